import { type Kind, Problem, text } from './kinds.ts';
import { httpUrl } from './network-kinds.ts';
import { setting } from './setting.ts';

/** Settings for traces. Their names are those of OpenTelemetry, so that the configuration of other services fits. */
export const TRACE_SETTINGS = {
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    httpUrl(),
    undefined,
    'Where traces are sent, by OTLP over HTTP with JSON: the base URL of an OpenTelemetry collector, such as `http://localhost:4318`. Needs packages that an install does not bring (`docs/operating.md#traces`).',
    'none: nothing is recorded',
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    headers(),
    undefined,
    'Headers for the receiver of traces, such as `authorization=Bearer%20…`: comma-separated pairs, percent-encoded.',
    'none',
  ),
  tracesShare: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    share(),
    0.01,
    'The share of requests, sends, deliveries, jobs and payments whose traces are recorded, from 0 to 1. Spans about a recorded payment are recorded, too.',
  ),
  traceService: setting('OTEL_SERVICE_NAME', text(), 'till', 'The name of the service in traces.'),
} as const;

function share(): Kind<number> {
  return {
    name: 'number from 0 to 1',
    parse: (raw) =>
      /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(raw) ? Number(raw) : new Problem('must be a number from 0 to 1'),
  };
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]+$/;

function headers(): Kind<Readonly<Record<string, string>>> {
  return {
    name: 'list of `name=value`',
    parse: (raw) => {
      const pairs = raw.split(',').map((pair) => {
        const [name = '', ...value] = pair.trim().split('=');
        return [name.trim(), decoded(value.join('=').trim())] as const;
      });
      const isRight = pairs.every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value ?? ''));
      // The message repeats nothing of the value: it is a secret.
      return isRight ? Object.fromEntries(pairs) : new Problem('must list headers as name=value, percent-encoded');
    },
    secretsOf: (pairs) => Object.values(pairs),
  };
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}
