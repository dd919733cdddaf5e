import type { ChainCheck } from './chain-check.ts';
import type { ChainHealth } from './chain-health.ts';
import type { ChainReader } from './chain-reader.ts';
import type { Network } from './network.ts';
import type { PayerSide } from './payer-side.ts';
import type { Sender } from './sender.ts';

/**
 * A network as its chain family serves it: three ports, each in its own file. A function takes only the port that it needs.
 *
 * Every answer is three-valued. A method resolves with a known answer. It rejects with `ChainUnavailableError` when it could not
 * find one (an endpoint is down, lies, or lags behind). "Unknown" can therefore never be taken for "no". A revert is an answer of
 * the chain. If the revert answers the question, the method resolves. If it does not, because a token breaks its standard, the
 * method rejects with `ContractFaultError`.
 */
export interface Chain {
  readonly network: Network;
  readonly reader: ChainReader;
  readonly payerSide: PayerSide;
  readonly sender: Sender;
  /** Compares our data with the chain. Assets that differ are no longer offered. Rejects only if no endpoint is reachable. */
  check(): Promise<ChainCheck>;
  /** The last known state of the endpoints. Makes no call. */
  health(): ChainHealth;
  close(): void;
}
