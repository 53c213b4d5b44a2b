import regex
import phonenumbers

number = phonenumbers.parse("+49 30 901820", None)
print(phonenumbers.is_valid_number(number), phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
print(regex.findall(r"\p{Lu}\w+", "Ann met Émile in köln and Ärzte"), regex.sub(r"(?<=\d)(?=(\d{3})+\b)", ",", "1234567"))
print(regex.fullmatch(r"(?:cats|dogs){e<=1}", "cat") is not None)
