from datetime import datetime

trips = [("08:15", "08:52"), ("12:05", "12:31"), ("17:40", "18:29")]
minutes = [int((datetime.strptime(b, "%H:%M") - datetime.strptime(a, "%H:%M")).total_seconds() // 60) for a, b in trips]
print(minutes, sum(minutes), f"{sum(minutes) / len(minutes):.1f}")
