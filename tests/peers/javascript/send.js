// Sends two spans with the exporter that is named: node send.js json|proto|grpc URL
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { OTLPTraceExporter as Grpc } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as Json } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as Proto } from "@opentelemetry/exporter-trace-otlp-proto";

const [, , kind, url] = process.argv;
const exporter = new { json: Json, proto: Proto, grpc: Grpc }[kind]({ url, compression: "gzip" });
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("javascript");
tracer.startSpan("first", { attributes: { text: "ünïcode", number: 2 ** 40, list: [1.5, 2] } }).end();
tracer.startSpan("second").end();
await provider.shutdown();
