import { hash } from 'node:crypto';
import {
  context,
  type DiagLogger,
  diag,
  SpanKind as Kind,
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { readOwnPackage } from './own-package.ts';
import { createSparseWarning } from './sparse-log.ts';
import type { OpenSpan, Span, SpanAbout, SpanKind, Tracing } from './tracing.ts';
import type { Clock, Log } from './world.ts';

export interface TelemetryInput {
  /** The base URL of the receiver. Spans are sent to `/v1/traces` below it, as JSON. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The share of root spans that are recorded, from 0 to 1. */
  readonly share: number;
  readonly service: string;
  readonly node: string;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Telemetry {
  readonly tracing: Tracing;
  /** Sends the spans that are waiting, within a bounded time. */
  stop(): Promise<void>;
}

/** The packages that send traces. Operators who want traces install them; all others do without these 24 MB. */
const PACKAGES = [
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
] as const;

/** The packages that send traces are not installed. The message has the command that installs them. */
export class TelemetryMissingError extends Error {}

const EXPORT_MS = 5_000;
const MAX_WAITING_SPANS = 8_192;
const SEND_EVERY_MS = 1_000;
const MAX_LINKS = 128;

/** Opens the connection to the receiver of traces. An unreachable receiver only causes a warning: it must not stop a payment. */
export async function openTelemetry(input: TelemetryInput): Promise<Telemetry> {
  const { version, devDependencies } = readOwnPackage();
  const { hooks, exporting, resources, sdk } = await loadPackages(devDependencies);
  const ratio = new sdk.TraceIdRatioBasedSampler(input.share);
  const isSampled = (traceId: string) =>
    ratio.shouldSample(ROOT_CONTEXT, traceId).decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
  // A root span that is linked to a recorded payment is recorded, whichever node it runs on, so that the payment's trace is complete.
  const sampler = new sdk.ParentBasedSampler({
    root: {
      shouldSample: (...[, traceId, , , , links]) => ({
        decision:
          links.some(({ context: { traceFlags } }) => traceFlags === TraceFlags.SAMPLED) || isSampled(traceId)
            ? sdk.SamplingDecision.RECORD_AND_SAMPLED
            : sdk.SamplingDecision.NOT_RECORD,
      }),
      toString: () => `Till{${input.share}}`,
    },
  });
  const random = new sdk.RandomIdGenerator();
  /** The ids for the next span. Undefined if the next span gets random ids. */
  let next: Pick<SpanContext, 'traceId' | 'spanId'> | undefined;
  context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
  diag.setLogger(warningsTo(input), { suppressOverrideMessage: true });
  const provider = new sdk.TracerProvider({
    sampler,
    idGenerator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    },
    resource: resources.resourceFromAttributes({
      'service.name': input.service,
      'service.version': version,
      'service.instance.id': input.node,
    }),
    spanLimits: { linkCountLimit: MAX_LINKS, attributeValueLengthLimit: 1_000 },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new exporting.OTLPTraceExporter({
          url: `${input.endpoint.replace(/\/+$/, '')}/v1/traces`,
          headers: { ...input.headers },
          timeoutMillis: EXPORT_MS,
        }),
        maxQueueSize: MAX_WAITING_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
  const withIds = <T>(ids: Pick<SpanContext, 'traceId' | 'spanId'>, work: () => T): T => {
    next = ids;
    try {
      return work();
    } finally {
      next = undefined;
    }
  };
  return {
    tracing: createTracing(provider.getTracer('till', version), { isSampled, withIds }),
    stop: () => provider.shutdown().catch(() => {}),
  };
}

async function loadPackages(versions: Readonly<Record<string, string>>) {
  try {
    const [hooks, exporting, resources, sdk] = await Promise.all([
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace'),
    ]);
    return { hooks, exporting, resources, sdk };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new TelemetryMissingError(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send traces are not installed. Run \`${installCommand(versions)}\`, or unset it.`,
    );
  }
}

/**
 * The command that installs the packages. Without `--save-prod` npm would leave them out, because it knows them as packages for
 * development.
 */
function installCommand(versions: Readonly<Record<string, string>>): string {
  const packages = PACKAGES.map((name) => `${name}@${versions[name]}`);
  return `npm install --no-save --save-prod --omit=dev ${packages.join(' ')}`;
}

interface Ids {
  readonly isSampled: (traceId: string) => boolean;
  readonly withIds: <T>(ids: Pick<SpanContext, 'traceId' | 'spanId'>, work: () => T) => T;
}

const KINDS: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  internal: Kind.INTERNAL,
  producer: Kind.PRODUCER,
};
const UNRECORDED: Span = { set: () => {}, fail: () => {} };

function createTracing(tracer: Tracer, { isSampled, withIds }: Ids): Tracing {
  /** The trace context of a payment. Every node computes the same ids, so links need no column in the database and hold across nodes. */
  function contextOf(payment: string): SpanContext {
    const digest = hash('sha256', `trace of ${payment}`, 'hex');
    const traceId = digest.slice(0, 32);
    const traceFlags = isSampled(traceId) ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return { traceId, spanId: digest.slice(32, 48), traceFlags, isRemote: true };
  }

  function start(name: string, { kind, attributes = {}, payments = [], place }: SpanAbout): OtelSpan {
    const links = payments.slice(0, MAX_LINKS).map((id): Link => ({ context: contextOf(id) }));
    const [only] = payments;
    const about = payments.length === 1 && only !== undefined ? { 'till.payment.id': only } : {};
    return tracer.startSpan(name, {
      kind: KINDS[kind],
      attributes: { ...attributes, ...about },
      links,
      root: place === 'root',
    });
  }

  return {
    here() {
      const within = context.active();
      return (work) => context.with(within, work);
    },

    span(name, about, work) {
      if (about.place === 'child' && trace.getActiveSpan()?.isRecording() !== true) return work(UNRECORDED);
      const span = start(name, about);
      const own = openSpan(span);
      return own.run(() =>
        work(own).then(
          (result) => {
            span.end();
            return result;
          },
          (error: unknown) => {
            own.fail(kindOf(error));
            span.end();
            throw error;
          },
        ),
      );
    },

    begin: (name, about) => openSpan(start(name, about)),

    notePayment(id) {
      const { traceId, spanId, traceFlags } = contextOf(id);
      if (traceFlags !== TraceFlags.SAMPLED) return;
      const creator = trace.getActiveSpan()?.spanContext();
      const links = creator === undefined ? [] : [{ context: creator }];
      const attributes = { 'till.payment.id': id };
      withIds({ traceId, spanId }, () => tracer.startSpan('payment', { root: true, attributes, links })).end();
    },
  };
}

function openSpan(span: OtelSpan): OpenSpan {
  const within = trace.setSpan(context.active(), span);
  return {
    run: (work) => context.with(within, work),
    set: (name, value) => void span.setAttribute(name, value),
    fail(kind) {
      span.setAttribute('error.type', kind);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end: () => span.end(),
  };
}

/** The kind of an error: its code or the name of its class. Messages are not recorded, because they may contain data from callers. */
function kindOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'Error';
}

/**
 * A logger for the SDK, which reports a failure with each export. The SDK's messages are not logged: they may contain the
 * headers of the request.
 */
function warningsTo({ clock, log }: Pick<TelemetryInput, 'clock' | 'log'>): DiagLogger {
  const warn = createSparseWarning(clock, log);
  const error = () => warn('traces', {}, 'traces cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT');
  const ignore = () => {};
  return { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
}
