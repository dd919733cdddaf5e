/** The known state of a chain's endpoints. */
export interface ChainHealth {
  readonly endpoints: number;
  readonly endpointsUp: number;
  /** The highest block that any endpoint has reported. */
  readonly headNumber: number | undefined;
  readonly states: readonly EndpointState[];
}

/** The known state of an endpoint. */
export interface EndpointState {
  /** Its place in the configuration, as in "endpoint 1", and never its address. */
  readonly name: string;
  readonly isUp: boolean;
  /** The reason why it is not up, as the end of a sentence about it. */
  readonly trouble: string | undefined;
}
