"""Writes texts with and without secrets, as JSON lines for `tests/bench/scanners.py --secrets`.

    python tests/bench/secret_samples.py [--seed 1] > FILE

Each credential has the format that its provider documents, random content, and three ways to be written;
what looks alike (digests, identifiers, placeholders, public data) is random too. Nothing here is or was a
secret. The formats are those of the providers' documentation, not of the rules that are measured.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

_ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "h": "0123456789abcdef",
    "b": string.ascii_letters + string.digits + "-_",
    "r": string.ascii_uppercase + "234567",
    "s": string.ascii_letters + string.digits + "+/",
    "g": "ACGT",
    "x": string.digits + "ABCDEF",
}

_FORMATS = """
github ghp_{a36}
github_oauth gho_{a36}
github_app ghs_{a36}
github_refresh ghr_{a36}
github_fine github_pat_{a22}_{a59}
gitlab glpat-{b20}
gitlab_runner glrt-{b20}
gitlab_deploy gldt-{b20}
gitlab_trigger glptt-{h40}
aws AKIA{r16}
aws_session ASIA{r16}
google AIza{b35}
google_oauth GOCSPX-{b28}
google_token ya29.{b68}
slack_bot xoxb-{d12}-{d13}-{a24}
slack_user xoxp-{d12}-{d12}-{d12}-{h32}
slack_app xapp-1-A{u10}-{d13}-{h64}
slack_hook https://hooks.slack.com/services/T{u8}/B{u10}/{a24}
stripe sk_live_{a24}
stripe_new sk_live_51{a97}
stripe_restricted rk_live_{a24}
stripe_hook whsec_{a32}
openai sk-{a20}T3BlbkFJ{a20}
openai_project sk-proj-{b74}T3BlbkFJ{b74}
anthropic sk-ant-api03-{b93}AA
huggingface hf_{a34}
replicate r8_{a37}
groq gsk_{a52}
perplexity pplx-{a48}
xai xai-{a80}
openrouter sk-or-v1-{h64}
langsmith lsv2_pt_{h32}_{h10}
pinecone pcsk_{a6}_{a63}
npm npm_{a36}
pypi pypi-AgEIcHlwaS5vcmc{b120}
rubygems rubygems_{h48}
docker dckr_pat_{b27}
digitalocean dop_v1_{h64}
digitalocean_oauth doo_v1_{h64}
sendgrid SG.{b22}.{b43}
mailgun key-{h32}
mailchimp {h32}-us12
twilio SK{h32}
telegram {d10}:AA{b33}
discord_hook https://discord.com/api/webhooks/{d18}/{b68}
shopify shpat_{h32}
shopify_shared shpss_{h32}
shopify_private shppa_{h32}
square sq0csp-{b43}
square_token EAAA{b60}
linear lin_api_{a40}
notion ntn_{d11}{a35}
notion_old secret_{a43}
figma figd_{b40}
postman PMAK-{h24}-{h34}
databricks dapi{h32}
snyk {uuid}
sentry sntrys_{claims}_{a43}
newrelic NRAK-{u27}
grafana glsa_{a32}_{h8}
grafana_cloud glc_{a60}
vault hvs.{b95}
terraform {a14}.atlasv1.{b64}
pulumi pul-{h40}
doppler dp.pt.{a43}
planetscale pscale_tkn_{b43}
planetscale_password pscale_pw_{b43}
supabase sbp_{h40}
netlify nfp_{a36}
vercel vcp_{a56}
flyio fo1_{b43}
heroku HRKU-AA{b58}
cloudflare_origin v1.0-{h24}-{h146}
age AGE-SECRET-KEY-1{bech58}
artifactory AKCp{a69}
atlassian ATATT3{b186}
airtable pat{a14}.{h64}
asana 1/{d16}:{h32}
dropbox sl.{b135}
easypost EZAK{a54}
flutterwave FLWSECK_TEST-{h32}-X
duffel duffel_live_{b43}
frameio fio-u-{b64}
readme rdme_{l70}
prefect pnu_{a36}
scalingo tk-us-{b48}
sendinblue xkeysib-{h64}-{a16}
shippo shippo_live_{h40}
typeform tfp_{b40}.{b18}
yandex AQVN{b38}
alibaba LTAI{a20}
infracost ico-{a32}
microsoft_hook https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{h32}/{uuid}
azure_ad {a3}7Q~{b34}
jwt eyJhbGciOiJIUzI1NiJ9.eyJ{a60}.{b43}
postgres postgresql://admin:{a18}@db.internal.example:5432/shop
mongodb mongodb+srv://app:{a18}@cluster0.mongodb.net/shop
redis redis://:{a24}@cache.internal.example:6379/0
private_key -----BEGIN RSA PRIVATE KEY-----{break}{lines}{break}-----END RSA PRIVATE KEY-----
datadog_named {h32}
twitch_named {l30}
algolia_named {h32}
azure_storage_named {a86}==
adafruit_io aio_{a28}
azure_devops_pat {a76}AZDO{a4}
bitbucket_app_password ATBB{a32}
buildkite_token bkua_{h40}
circle_token CCIPAT_{a22}_{h40}
clojars_token CLOJARS_{h60}
contentful_pat CFPAT-{b43}
discord_bot_token MT{a22}.G{b5}.{b38}
doppler_service dp.st.prd.{a43}
dynatrace dt0c01.{r24}.{r64}
fireworks_key fw_{a24}
gitlab_agent glagent-{b50}
gitlab_feed glft-{b20}
harness_pat pat.{b22}.{h24}.{a20}
vault_batch hvb.{b150}
hubspot_token pat-na1-{uuid}
jfrog_reference_token cmVmdGtu{a56}
launchdarkly_sdk_key sdk-{uuid}
linear_oauth lin_oauth_{h64}
mailersend mlsn.{h64}
mapbox_secret_token sk.eyJ1Ijoi{a60}.{b22}
nuget_key oy2{l43}
nvidia_key nvapi-{b64}
octopus_key API-{u26}
onepassword_secret_key A3-{u6}-{u11}-{u5}-{u5}-{u5}
plaid_access_token access-production-{uuid}
posthog_personal_key phx_{a43}
resend_key re_{a8}_{a24}
rootly_key rootly_{h64}
salesforce_access_token 00D{a12}!AQ{a94}
sonar_token squ_{h40}
sourcegraph_token sgp_{h16}_{h40}
tailscale_key tskey-auth-{a11}CNTRL-{a32}
tavily_key tvly-{a32}
wakatime_key waka_{uuid}
zapier_hook https://hooks.zapier.com/hooks/catch/{d7}/{l7}/
firebase_server_key AAAA{b7}:APA91b{b134}
facebook_graph_token EAAB{a150}
elevenlabs_key sk_{h48}
deepseek_key sk-{h32}
vercel_blob vercel_blob_rw_{a16}_{a31}
neon_key napi_{l64}
render_key rnd_{a28}
aws_bedrock ABSKQmVkcm9ja0FQSUtleS{s109}=
confluent_secret cflt{s60}
beamer_api_key b_{a44}
cal_key cal_live_{h32}
coinbase_key organizations/{uuid}/apiKeys/{uuid}
convex_deploy_key prod:happy-otter-123|{s80}
deepl_auth_key {uuid}:fx
digitalocean_refresh dor_v1_{h64}
gocardless_token live_{b40}
honeycomb_key hcaik_01{l58}
intra42_secret s-s4t2ud-{h64}
jina_key jina_{h32}{b28}
mailgun_private {h32}-{h8}-{h8}
maxmind_license_key {a6}_{a29}_mmk
mollie_key live_{a30}
openshift_token sha256~{b43}
paddle_key pdl_live_apikey_01{l24}_{a22}_{a3}
polar_token polar_oat_{a43}
pubnub_secret sec-c-{s52}
stytch_secret secret-live-{b36}=
trello_token ATTA{h60}
unkey_root unkey_{a24}
voyage_key pa-{b43}
valtown_key vtwn_{a36}
xata_key xau_{a44}
zuplo_key zpka_{h32}_{h8}
anyscale_key esecret_{l26}
cerebras_key csk-{l48}
friendli_token flp_{a46}
modal_token_secret as-{a22}
together_key tgp_v1_{b43}
browserbase_key bb_live_{b27}
e2b_key e2b_{h40}
firecrawl_key fc-{h32}
helicone_key sk-helicone-{l7}-{l7}-{l7}-{l7}
logfire_token pylf_v1_us_{a43}
gitlab_ci_job glcbt-{h2}_{b20}
slack_refresh xoxe-1-{a146}
aws_session_key ASIA{r16}
alchemy_key alcht_{a30}
databento_key db-{a29}
airbyte_secret {b120}
algolia_admin_key {h32}
shodan_key {a32}
splunk_hec_token {uuid}
deepgram_key {h40}
spotify_client_secret {h32}
sparkpost_api_key {h40}
kaggle_key {h32}
okta_client_secret {b64}
hmac_secret {h128}
cookie_secret {a64}
signing_secret {h32}
private_token {b20}
"""

_NAMES = {
    "datadog_named": "DATADOG_API_KEY",
    "twitch_named": "twitch_client_secret",
    "algolia_named": "ALGOLIA_ADMIN_API_KEY",
    "azure_storage_named": "AZURE_STORAGE_ACCOUNT_KEY",
    "snyk": "SNYK_API_TOKEN",
    "mailgun": "MAILGUN_API_KEY",
    "mailchimp": "MAILCHIMP_API_KEY",
    "twilio": "TWILIO_API_KEY",
    "azure_ad": "AZURE_CLIENT_SECRET",
    "yandex": "YANDEX_API_KEY",
    "square_token": "SQUARE_ACCESS_TOKEN",
    "asana": "ASANA_ACCESS_TOKEN",
}


_ANNOUNCING = ("_key", "_pat", "_secret", "_token")
"""Ends of names that are written as they are."""


def main() -> None:
    """Print the texts."""
    parser = argparse.ArgumentParser(description="Write texts with and without secrets.")
    parser.add_argument("--seed", type=int, default=1)
    chance = random.Random(parser.parse_args().seed)
    rows = [*_credentials(chance), *_look_alikes(chance, 600)]
    for number, (language, source, held) in enumerate(rows):
        print(json.dumps({"id": str(number), "language": language, "source": source, "secret": held}))


def _credentials(chance: random.Random) -> Iterator[tuple[str, str, bool]]:
    for line in _FORMATS.strip().splitlines():
        name, _, form = line.partition(" ")
        called = _NAMES.get(name, name if name.endswith(_ANNOUNCING) else f"{name.partition('_')[0]}_token")
        for language, way in (
            ("python", f"import os\n{called} = {{!r}}\nprint(len({called}))"),
            ("bash", f"export {called.upper()}='{{}}'\nmake deploy"),
            ("json", f'{{{{"env": "prod", "{called.lower()}": "{{}}"}}}}'),
        ):
            yield language, way.format(_fill(form, chance)), True


def _fill(form: str, chance: random.Random) -> str:
    def part(found: re.Match[str]) -> str:
        if found[1] == "uuid":
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if found[1] == "break":
            return "\n"
        if found[1] == "claims":
            claims = {"iat": chance.random() * 1e9, "url": "https://sentry.io", "org": "acme"}
            return base64.b64encode(json.dumps(claims, separators=(",", ":")).encode()).decode()
        if found[1] == "lines":
            return "\n".join(base64.b64encode(chance.randbytes(48)).decode() for _ in range(12))
        if found[1] == "bech58":
            return "".join(chance.choices("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", k=58))
        return "".join(chance.choices(_ALPHABETS[found[1][0]], k=int(found[1][1:])))

    return re.sub(r"\{([a-z]\d+|bech58|break|claims|lines|uuid)\}", part, form)


def _look_alikes(chance: random.Random, count: int) -> Iterator[tuple[str, str, bool]]:
    for number in range(count):
        language, make = _HARMLESS[number % len(_HARMLESS)]
        yield language, make(lambda form: _fill(form, chance)), False
    held = yaml.safe_load(Path(__file__).with_name("secret_look_alikes.yaml").read_text(encoding="utf-8"))
    forms = [(language, form) for language, forms in held.items() for form in forms]
    for number in range(count):
        language, form = forms[number % len(forms)]
        yield language, _fill(form, chance), False


_Fill = Callable[[str], str]
_HARMLESS: list[tuple[str, Callable[[_Fill], str]]] = [
    ("bash", lambda fill: fill("git checkout {h40} && git show {h7}")),
    ("python", lambda fill: fill("run_id = '{uuid}'\nprint(run_id)")),
    ("text", lambda fill: fill("requests==2.32.0 --hash=sha256:{h64}")),
    ("json", lambda fill: fill('{"integrity": "sha512-{a86}=="}')),
    ("python", lambda fill: fill("assert digest == '{h64}', 'checksum differs'")),
    ("python", lambda fill: fill("order = db.find_one({'_id': ObjectId('{h24}')})")),
    ("python", lambda fill: "API_KEY = config['service']['api_key']"),
    ("python", lambda fill: "token = 'your-token-here'\nclient = Client(token=token)"),
    ("bash", lambda fill: "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ("python", lambda fill: "AWS_ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE'"),
    ("javascript", lambda fill: fill("const img = 'data:image/png;base64,iVBORw0KGgo{a120}';")),
    ("python", lambda fill: fill("trace_id = '{h32}'; span_id = '{h16}'")),
    ("json", lambda fill: fill('{"etag": "{h32}", "version_id": "{b32}"}')),
    ("javascript", lambda fill: fill("import x from './chunk-{u8}.js'; const cls = 'css-{l6} sc-{a6}';")),
    ("text", lambda fill: fill("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{a43} ada@laptop")),
    ("python", lambda fill: "password = getpass.getpass()\nlogin(user, password)"),
    ("python", lambda fill: fill("model.load('checkpoints/run-{l8}/epoch_{d3}.pt')")),
    ("sql", lambda fill: fill("SELECT * FROM sessions WHERE id = '{uuid}'")),
    ("yaml", lambda fill: fill("image:  python@sha256:{h64}")),
    ("python", lambda fill: fill("np.random.seed(1{d6})\nkey = jax.random.PRNGKey(1{d4})")),
    ("python", lambda fill: "sort_key = 'customer_segment_total_amount_desc'\nprimary_key = 'order_line_id'"),
    ("yaml", lambda fill: "secretKeyRef:\n  name: database-credentials\n  key: password"),
    ("yaml", lambda fill: "token: ${{ secrets.DEPLOY_TOKEN }}"),
    ("python", lambda fill: fill("url = 'https://cdn.example.com/assets/{h20}/main.{h8}.css'")),
    ("text", lambda fill: fill("-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----")),
    ("python", lambda fill: fill("tokens = ['{l5}', '{l7}', '{l6}']\nmax_tokens = 1{d3}")),
    ("json", lambda fill: '{"password": "<redacted>", "api_key": "********"}'),
    ("text", lambda fill: fill("rolled back deploy/web-{h10}-{l5}")),
    ("python", lambda fill: fill("page_token = 'CAUQAA'\nnext_page_token = '{a12}'")),
    ("text", lambda fill: fill("Invoice {u8}-{d4}: IBAN on file, reference {d16}, tracking 1Z{u16}.")),
]


if __name__ == "__main__":
    main()
