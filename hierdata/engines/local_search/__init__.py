"""Exchanges of records between classes of trees, as long as they lower the loss."""
