"""What every room may import: errors, progress, plug-ins, pages, and the traits of recodings."""
