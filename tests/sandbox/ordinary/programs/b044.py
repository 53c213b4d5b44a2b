import locale

names = ["zebra", "Apple", "apple", "Zoo", "ant"]
locale.setlocale(locale.LC_ALL, "C")
print("numeric:", locale.setlocale(locale.LC_NUMERIC))
print(locale.format_string("%.2f", 1234567.891, grouping=True))
print(sorted(names, key=locale.strxfrm))
conv = locale.localeconv()
print("decimal point", repr(conv["decimal_point"]), "thousands", repr(conv["thousands_sep"]))
try:
    locale.setlocale(locale.LC_ALL, "xx_YY.nope")
except locale.Error as exc:
    print("error:", exc)
print(locale.atof("3.25") + 1)
print("preferred encoding is a string:", isinstance(locale.getpreferredencoding(False), str))
