import type { Chain } from '../../chains/chain.ts';
import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { Block } from '../../chains/chain-reader.ts';
import type { World } from '../../runtime/world.ts';

export interface EndpointAnswer {
  readonly state: 'up' | 'down';
  readonly head: Block | undefined;
  /** The time at which the head arrived, by the clock of this machine. */
  readonly answeredAtMs: number;
  /** The time from the request for the head to its answer, including the first connection. */
  readonly latencyMs: number | undefined;
  /** The CAIP-19 ids of the payable assets. */
  readonly payable: readonly string[];
  readonly problems: readonly string[];
}

const ANSWER_WITHIN_MS = 15_000;

/** Compares our data about a network with one of its endpoints. `chain` must have this endpoint alone, and is closed afterwards. */
export async function askEndpoint({ world }: { readonly world: World }, chain: Chain): Promise<EndpointAnswer> {
  const { chainId } = chain.network;
  const settled = new AbortController();
  const silence = world.timers.sleep(ANSWER_WITHIN_MS, settled.signal).then(() => {
    throw new ChainUnavailableError(chainId, `no answer within ${ANSWER_WITHIN_MS / 1000} s`);
  });
  silence.catch(() => {});
  const askedAtMs = world.clock.nowMs();
  try {
    const head = await Promise.race([chain.reader.head(), silence]);
    const answeredAtMs = world.clock.nowMs();
    const found = await Promise.race([chain.check(), silence]);
    const problems = found.problems.map(({ message }) => message);
    const latencyMs = Math.max(0, answeredAtMs - askedAtMs);
    return { state: 'up', head, answeredAtMs, latencyMs, payable: found.payable, problems };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    // The caller knows network and endpoint, so the problem need not name them.
    const problem = error.message.replace(`${chainId}: `, '').replace(/^no endpoint answered \w+: endpoint 1 /, 'it ');
    return {
      state: 'down',
      head: undefined,
      answeredAtMs: askedAtMs,
      latencyMs: undefined,
      payable: [],
      problems: [problem],
    };
  } finally {
    settled.abort();
    chain.close();
  }
}
