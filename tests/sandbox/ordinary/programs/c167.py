import xml.etree.ElementTree as ET, html, csv, configparser, json, tomllib, plistlib
t = ET.Element("a"); ET.SubElement(t, "b", x="1").text = "é"; ET.ElementTree(t).write("a.xml", encoding="utf-8", xml_declaration=True); print(ET.parse("a.xml").getroot()[0].text)
c = configparser.ConfigParser(); c.read(["missing.ini", "/etc/app-that-is-not-here.ini"]); print(c.sections(), tomllib.loads("a=1"), plistlib.loads(plistlib.dumps({"k": 1})))
