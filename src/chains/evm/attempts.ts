import type { Timers } from '../../runtime/world.ts';
import { ContractFaultError } from '../chain-errors.ts';
import { EndpointFailure } from './json-rpc.ts';

/** The attempts to get an answer to one RPC call from several endpoints. Some of them are concurrent. */
export interface Attempts<T> {
  begin(endpoint: string, answer: Promise<T>, isFlawed: (answer: T) => boolean): void;
  /** Waits until an attempt ends, at most this long. */
  settleWithin(ms: number): Promise<void>;
  /** True if an attempt is pending at this endpoint, or at any endpoint if none is given. */
  isPending(endpoint?: string): boolean;
  /** True if there is a good answer or a bug in our code, so that no other endpoint needs to be asked. */
  isDecided(): boolean;
  /** True if a retry at the same endpoints will not help. */
  isPointless(): boolean;
  /** The results so far. Throws if an attempt ended with an error that is a bug in our code. */
  outcome(): AttemptsOutcome<T>;
}

interface AttemptsOutcome<T> {
  readonly good: { readonly answer: T } | undefined;
  /** A partly unreadable answer, with its endpoint. */
  readonly flawed: { readonly answer: T; readonly by: string } | undefined;
  /** The error of an endpoint that reports a faulty contract. Another endpoint may have a better answer. */
  readonly contractFault: ContractFaultError | undefined;
  /** The last failure of each endpoint. */
  readonly failures: ReadonlyMap<string, EndpointFailure>;
}

export function createAttempts<T>(timers: Timers): Attempts<T> {
  /** Each pending attempt with its endpoint. */
  const pending = new Map<Promise<void>, string>();
  const failures = new Map<string, EndpointFailure>();
  let good: AttemptsOutcome<T>['good'];
  let flawed: AttemptsOutcome<T>['flawed'];
  let contractFault: ContractFaultError | undefined;
  let fault: { readonly error: unknown } | undefined;

  return {
    begin(endpoint, answer, isFlawed) {
      const attempt = answer
        .then(
          (value) => {
            if (isFlawed(value)) flawed ??= { answer: value, by: endpoint };
            else good ??= { answer: value };
          },
          (error: unknown) => {
            if (error instanceof EndpointFailure) failures.set(endpoint, error);
            else if (error instanceof ContractFaultError) contractFault ??= error;
            else fault ??= { error };
          },
        )
        .finally(() => pending.delete(attempt));
      pending.set(attempt, endpoint);
    },
    settleWithin: (ms) => {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const cancelTimer = timers.after(ms, resolve);
      return Promise.race([over, ...pending.keys()]).finally(cancelTimer);
    },
    isPending: (endpoint) =>
      endpoint === undefined ? pending.size > 0 : pending.values().some((each) => each === endpoint),
    isDecided: () => good !== undefined || fault !== undefined,
    isPointless: () => {
      if (pending.size > 0) return false;
      return (
        flawed !== undefined ||
        contractFault !== undefined ||
        (failures.size > 0 && failures.values().every(({ kind }) => kind === 'unreadable'))
      );
    },
    outcome() {
      if (fault !== undefined) throw fault.error;
      return { good, flawed, contractFault, failures };
    },
  };
}
