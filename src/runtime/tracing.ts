/**
 * Spans for a person who looks for the time of a request, a send or a delivery. `World` has a `Tracing` only if an operator named a
 * receiver. Without one, hot paths are composed without it, and nothing is allocated.
 */
export interface Tracing {
  /** Runs the work in a span of its own. A rejection marks the span as failed, without its message, which may have private data. */
  span<T>(name: string, about: SpanAbout, work: (span: Span) => Promise<T>): Promise<T>;
  /** Begins a root, for work that ends in another function. */
  begin(name: string, about: SpanAbout): OpenSpan;
  /** The span around the caller, in which later work can run: a batch runs in the span of its first item. */
  here(): <T>(work: () => T) => T;
  /** Records the root of the trace of a payment, to which all spans about the payment have links. */
  notePayment(id: string): void;
}

export interface SpanAbout {
  readonly kind: SpanKind;
  /** No secret, and no data of a payer: no account, amount, reference, address or query. */
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** Payments that the work is about. */
  readonly payments?: readonly string[];
  /** `root`: the sampler decides. `child`: recorded within a recorded span alone. */
  readonly place: 'root' | 'child';
}

export type SpanKind = 'server' | 'client' | 'internal' | 'producer';

export interface Span {
  set(name: string, value: string | number): void;
  fail(kind: string): void;
}

export interface OpenSpan extends Span {
  /** Runs the work within the span. */
  run<T>(work: () => T): T;
  end(): void;
}

/** The function, with a span around each call. Without tracing, the function itself. */
export function traced<In extends readonly unknown[], Out>(
  tracing: Tracing | undefined,
  work: (...input: In) => Promise<Out>,
  describe: (...input: In) => { readonly name: string; readonly about: SpanAbout },
): (...input: In) => Promise<Out> {
  if (tracing === undefined) return work;
  return (...input) => {
    const { name, about } = describe(...input);
    return tracing.span(name, about, () => work(...input));
  };
}
