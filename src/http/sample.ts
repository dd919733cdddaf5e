/** A placeholder for the origin of the gateway. The gateway that serves the reference inserts its own. */
export const SAMPLE_ORIGIN = 'https://till.example';

export interface Sample {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The body of the successful answer. */
  readonly answer: object;
}
