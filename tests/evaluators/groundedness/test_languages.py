"""Answers in other languages: numbers, dates and units are read as written there; none is accused."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.layers.groundedness import ClaimKind, Verdict, build_ledger

ORDER = {
    "order": "A-17", "total_eur": 1234.5, "weight_kg": 2.4, "delivered": "2026-05-20", "discount_pct": 12.5,
}  # fmt: skip
ANSWERS = {
    "de": "Die Bestellung A-17 kostet 1.234,50 €, wiegt 2,4 kg und kam am 20. Mai 2026; Rabatt: 12,5 %.",
    "fr": "La commande A-17 coûte 1 234,50 €, pèse 2,4 kg, livrée le 20 mai 2026 ; remise de 12,5 %.",
    "es": "El pedido A-17 cuesta 1.234,50 €, pesa 2,4 kg y llegó el 20 de mayo de 2026; rebaja del 12,5 %.",
    "pt": "A encomenda A-17 custa 1.234,50 €, pesa 2,4 kg e chegou em 20 de maio de 2026; baixa de 12,5 %.",
    "sv": "Beställningen A-17 kostar 1 234,50 €, väger 2,4 kg och kom den 20 maj 2026; rabatten är 12,5 %.",
    "ru": "Заказ A-17 стоит 1 234,50 €, весит 2,4 кг, доставлен 20 мая 2026; скидка 12,5 %.",
    "zh": "订单A-17的价格为1,234.5€，重2.4kg，于2026年5月20日送达，折扣为12.5%。",
    "ja": "注文A-17は1,234.50€、重さ2.4kgで、2026年5月20日に配達されました。割引は12.5%です。",
}
KINDS = {ClaimKind.IDENTIFIER, ClaimKind.CURRENCY, ClaimKind.DATE, ClaimKind.PERCENT}


@pytest.mark.parametrize("language", ANSWERS)
def test_values_are_read_as_a_language_writes_them(language):
    grounding = build_ledger([json.dumps(ORDER)], ANSWERS[language])
    assert {claim.kind for claim in grounding.claims} >= KINDS
    assert len(grounding.claims) == 5
    assert all(claim.verdict is Verdict.GROUNDED for claim in grounding.claims)
    assert grounding.verdict is Verdict.UNCERTAIN, "its words are not read"


@pytest.mark.parametrize(
    "answer",
    [
        "Tilaus on yhä matkalla, eikä sitä ole vielä toimitettu kolmelle asiakkaalle.",
        "주문은 아직 배송 중이며 세 명의 고객에게 배달되지 않았습니다.",
        "Zamówienie nie zostało jeszcze wysłane, czekają trzy osoby.",
        "الطلب لم يصل بعد وهناك ثلاثة عملاء ينتظرون.",
    ],
)
def test_words_of_other_languages_are_never_accused(answer):
    assert build_ledger([json.dumps(ORDER)], answer).verdict is Verdict.UNCERTAIN
