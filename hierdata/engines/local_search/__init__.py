"""Local search: exchange records between classes of trees as long as that lowers the loss."""
