"""One run over a collection, spread over an executor, step by step: ``pipeline`` calls them in order.

Where a function runs, in how many processes and in what order tasks end changes nothing that comes out.
"""
