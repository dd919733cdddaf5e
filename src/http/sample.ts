/** Stands for the origin of the gateway. The gateway that serves the reference puts its own in. */
export const SAMPLE_ORIGIN = 'https://till.example';

/** The example of a route. */
export interface Sample {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The body of the answer, where the request succeeds. */
  readonly answer: object;
}
