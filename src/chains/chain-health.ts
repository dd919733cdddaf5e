export interface ChainHealth {
  readonly endpoints: number;
  readonly endpointsUp: number;
  /** The highest block that any endpoint has reported. */
  readonly headNumber: number | undefined;
  readonly states: readonly EndpointState[];
}

export interface EndpointState {
  /** The endpoint's number in the configuration, such as `endpoint 1`. Never the URL, because URLs of endpoints contain secrets. */
  readonly name: string;
  readonly isUp: boolean;
  /** The reason why the endpoint is down, as the end of a sentence about it. */
  readonly trouble: string | undefined;
}
