import type { Tracing } from '../../runtime/tracing.ts';
import type { Transport } from './transport.ts';

interface Place {
  readonly network: string;
  /** The number of the endpoint in the configuration, from 1. Not the URL, which may contain a key. */
  readonly endpoint: number;
}

/** Adds a span to each request, with the names of its methods. It omits the parameters, which contain accounts and calldata. */
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

/** The methods in the text of a request. `writeRequest` puts the method before the parameters. */
function methodsOf(body: string): string[] {
  return [...body.matchAll(/"id":\d+,"method":"(\w+)"/g)].map(([, method = '']) => method);
}
