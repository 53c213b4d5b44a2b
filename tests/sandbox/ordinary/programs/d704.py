from datetime import date

loan, rate, payment, month = 5000.0, 0.06, 450.0, 0
while loan > 0:
    month += 1
    interest = loan * rate / 12
    loan = max(0.0, loan + interest - payment)
    if month % 3 == 0 or loan == 0:
        print(f"month {month:2}: interest {interest:6.2f}, left {loan:8.2f}")
print(date(2024, 1, 31).replace(month=(month - 1) % 12 + 1, day=1))
