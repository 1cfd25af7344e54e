"""All that lies in the folder of a release."""
