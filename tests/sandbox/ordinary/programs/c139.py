import platform, sysconfig, locale, time
print(platform.machine() != "", platform.python_implementation(), sysconfig.get_path("stdlib") != "", platform.libc_ver()[0])
locale.setlocale(locale.LC_ALL, ""); print(locale.localeconv()["decimal_point"], time.tzname[0] != "")
print(platform.freedesktop_os_release().get("ID", "") != "" if hasattr(platform, "freedesktop_os_release") else 1)
