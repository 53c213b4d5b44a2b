text = "she sells sea shells by the sea shore"
print(text.title(), text.count("s"), text.replace("sea", "lake", 1), text.split(" ", 2), sep="\n")
print(text.partition("by"), text.find("shore"), "".join(sorted(set(text) - {" "})))
