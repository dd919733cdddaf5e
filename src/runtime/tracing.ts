/**
 * Records spans, which show for how long each part of a request, a send or a delivery ran. `World` has a `Tracing` only if an
 * operator named a receiver. Without a receiver, hot paths are composed without tracing, and nothing is allocated.
 */
export interface Tracing {
  /** Runs the work in a span of its own. A rejection marks the span as failed, without its message, which may have private data. */
  span<T>(name: string, about: SpanAbout, work: (span: Span) => Promise<T>): Promise<T>;
  /** Begins a span for work that ends in another function. */
  begin(name: string, about: SpanAbout): OpenSpan;
  /** Returns a function that runs later work in the caller's span. For example, a batch runs in the span of its first item. */
  here(): <T>(work: () => T) => T;
  /** Records the root of the trace of a payment, to which all spans about the payment have links. */
  notePayment(id: string): void;
}

export interface SpanAbout {
  readonly kind: SpanKind;
  /** Attributes of the span. They contain no secret, and no data of a payer: no account, amount, reference, address or query. */
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** Payments that the work is about. */
  readonly payments?: readonly string[];
  /** `root`: the sampler decides whether the span is recorded. `child`: the span is recorded only within a recorded span. */
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
