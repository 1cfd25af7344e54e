"""What is done with one split of the input or one block of records, wherever an executor runs it.

Each is a picklable function; what all of them share (frame, policy, models) is part of the function, and what
differs (documents, arrays) comes and goes as its argument and result.
"""
