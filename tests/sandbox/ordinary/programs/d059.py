import doctest


def is_palindrome(text):
    """Return whether a text reads the same backwards.

    >>> is_palindrome("A man, a plan, a canal: Panama")
    True
    >>> is_palindrome("hello")
    False
    """
    letters = [c.lower() for c in text if c.isalnum()]
    return letters == letters[::-1]


print(doctest.testmod())
