"""``hierdata studio``: a local web application, from a file to a signed release.

``guard`` says who may ask, ``app`` holds the pages together, each page is one module of ``pages`` with its
template. ``study`` is the folder that keeps everything; ``work`` starts worker processes, which run one of
the ``tasks``. Texts are in ``texts/en.json``.
"""
