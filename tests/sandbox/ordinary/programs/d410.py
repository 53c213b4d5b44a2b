from bs4 import BeautifulSoup

page = """<div class="card"><h2>Tea</h2><span class="price">4.50</span></div>
<div class="card"><h2>Mug</h2><span class="price">9.00</span></div><a href="/next?page=2">next</a>"""
soup = BeautifulSoup(page, "html.parser")
print({card.h2.text: float(card.select_one(".price").text) for card in soup.select("div.card")})
print(soup.find("a", string="next")["href"], soup.get_text(" ", strip=True))
soup.find("span").decompose()
print(len(soup.find_all("span")))
