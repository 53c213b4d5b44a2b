// Where people agree and disagree: a queue of verdicts, labels, and how far each layer agrees with people.
import { useState } from "preact/hooks";
import { LAYERS, type Layer, type Schema } from "../api";
import { addressWith, ago, author, AuthorField, Cli, Empty, Grid, Head, LayerSelect, Outcome, percent, Plain, Promote, request, RunLink, Sent, Shown, useAnswer, useHours, useSend } from "../parts";
import { report } from "../report";
import { go, location } from "../router";

export function Review() {
  const given = location.value.searchParams.get("layer") as Layer | null;
  const layer = given && LAYERS.includes(given) ? given : "groundedness";
  const hours = useHours("720");
  const queue = useAnswer<Schema["Queue"]>("review", { layer, hours });
  const agreement = useAnswer<Schema["AgreementPage"]>("agreement");
  const wrong = useAnswer<Schema["LabelList"]>("labels", { wrong: "true" });
  const reload = () => {
    agreement.reload?.();
    wrong.reload?.();
  };
  return (
    <>
      <Head title="Review" hours={hours}>
        <span>
          <LayerSelect value={layer} choose={(next) => go(addressWith({ layer: next }))} /> <AuthorField />
        </span>
      </Head>
      <div class="columns">
        <section>
          <h2>Waiting for a person: uncertain first</h2>
          <Shown loaded={queue}>
            {(found) =>
              found.waiting.length ? (
                found.waiting.map((each) => <Waiting key={each.trace_id + each.run_span_id} each={each} layer={layer} reload={reload} />)
              ) : (
                <Empty title={`Every verdict on ${layer} was looked at`} />
              )
            }
          </Shown>
        </section>
        <section>
          <h2>How far we agree with people</h2>
          <Shown loaded={agreement}>{(found) => <Agreement layers={found.layers} />}</Shown>
          <h2 class="below">Where we are wrong</h2>
          <Shown loaded={wrong}>
            {(found) =>
              found.labels.length ? (
                <>
                  <Promote runs={found.labels.map(({ trace_id, run_span_id }) => ({ trace_id, run_span_id }))} label={`export ${found.labels.length} as cases`} />
                  <ul class="behind">
                    {found.labels.map((each) => (
                      <li>
                        <RunLink trace={each.trace_id} run={each.run_span_id} /> {each.layer}: <Plain text={`${each.author} says ${each.verdict}, we said ${each.ours}. ${each.note}`} />
                      </li>
                    ))}
                  </ul>
                </>
              ) : (
                <p class="dim">No person disagrees with a verdict.</p>
              )
            }
          </Shown>
        </section>
      </div>
      <Cli line={request(`review?layer=${layer}&hours=${hours}`)} />
    </>
  );
}

function Waiting({ each, layer, reload }: { each: Schema["Waiting"]; layer: Layer; reload: () => void }) {
  return (
    <section class="card">
      <div>
        <Outcome outcome={each.outcome} /> <RunLink trace={each.trace_id} run={each.run_span_id} text={each.agent || "run"} />{" "}
        <span class="dim">
          <Plain text={each.release} /> {ago(each.started_ns)}
        </span>
      </div>
      <p>
        <Plain text={each.outcome.explanation} />
      </p>
      <Judge trace={each.trace_id} run={each.run_span_id} layer={layer} ours={each.outcome.verdict} onDone={reload} />
    </section>
  );
}

/** Agree or disagree with a verdict, with a note and the right answer. */
export function Judge({ trace, run, layer, ours, onDone }: { trace: string; run: string; layer: Layer; ours: string; onDone?: () => void }) {
  const sending = useSend();
  const [note, setNote] = useState("");
  const [correction, setCorrection] = useState("");
  const label = (verdict: "pass" | "fail") => {
    const body = { trace_id: trace, run_span_id: run, layer, verdict, note, correction: correction || null, author: author() };
    sending.run<Schema["PersonsLabel"]>("POST", "labels", body, (answer) => {
      onDone?.();
      return `${answer.author} says ${answer.verdict}.`;
    });
  };
  if (report) return null;
  const opposite = ours === "pass" ? "fail" : "pass";
  return (
    <>
      <div class="badges">
        {ours === "pass" || ours === "fail" ? (
          <>
            <button type="button" disabled={sending.busy} onClick={() => label(ours)}>
              agree
            </button>
            <button type="button" disabled={sending.busy} onClick={() => label(opposite)}>
              disagree: {opposite}
            </button>
          </>
        ) : (
          <>
            <button type="button" disabled={sending.busy} onClick={() => label("pass")}>
              pass
            </button>
            <button type="button" disabled={sending.busy} onClick={() => label("fail")}>
              fail
            </button>
          </>
        )}
        <details>
          <summary>note, correction</summary>
          <div class="stack">
            <label>
              note <input value={note} onInput={(event) => setNote(event.currentTarget.value)} />
            </label>
            <label>
              right answer <input value={correction} onInput={(event) => setCorrection(event.currentTarget.value)} />
            </label>
          </div>
        </details>
      </div>
      <Sent sending={sending} />
    </>
  );
}

function Agreement({ layers }: { layers: Schema["LayerAgreement"][] }) {
  if (!layers.length) return <p class="dim">No verdict was judged by a person yet: agree or disagree with one.</p>;
  const share = (each: Schema["Share"]) => (
    <td class="heat" title={each.low === null ? undefined : `95 % interval ${percent(each.low)} to ${percent(each.high)}`}>
      {percent(each.share)}{" "}
      <span class="dim">
        {each.part} of {each.whole}
      </span>
    </td>
  );
  return (
    <Grid label="Agreement" heads={["layer", ["labels", "heat"], ["precision", "heat"], ["recall", "heat"], ["kappa", "heat"]]}>
      {layers.map((each) => (
        <tr>
          <th scope="row">{each.layer}</th>
          <td class="heat">{each.labelled}</td>
          {share(each.precision)}
          {share(each.recall)}
          <td class="heat">
            {each.kappa === null ? "–" : each.kappa.toFixed(2)}
            <div class="dim">{each.kappa_low === null ? "" : `${each.kappa_low.toFixed(2)} to ${(each.kappa_high ?? 1).toFixed(2)}`}</div>
          </td>
        </tr>
      ))}
    </Grid>
  );
}
