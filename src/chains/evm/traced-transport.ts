import type { Tracing } from '../../runtime/tracing.ts';
import type { Transport } from './transport.ts';

interface Place {
  readonly network: string;
  /** The place in the configuration, from 1. The URL may contain a key. */
  readonly endpoint: number;
}

/** A span around each request to the endpoint, with the names of its methods. Parameters contain accounts and calldata. */
export function tracedTransport(
  tracing: Tracing | undefined,
  transport: Transport,
  { network, endpoint }: Place,
): Transport {
  if (tracing === undefined) return transport;
  const attributes = { 'rpc.system': 'jsonrpc', 'till.network': network, 'till.endpoint': endpoint };
  return {
    ...transport,
    post: (body, signal) =>
      tracing.span('rpc', { kind: 'client', place: 'child', attributes }, async (span) => {
        const methods = methodsOf(body);
        span.set('rpc.method', [...new Set(methods)].join(' '));
        span.set('till.calls', methods.length);
        const answer = await transport.post(body, signal);
        span.set('http.response.status_code', answer.status);
        if (answer.status < 200 || answer.status > 299) span.fail(String(answer.status));
        return answer;
      }),
  };
}

/** The members of our own requests come in the order of `writeRequest`: the method is before the parameters. */
function methodsOf(body: string): string[] {
  return [...body.matchAll(/"id":\d+,"method":"(\w+)"/g)].map(([, method = '']) => method);
}
