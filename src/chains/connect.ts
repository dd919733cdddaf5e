import { backoffMs, withJitter } from '../runtime/backoff.ts';
import type { Log, World } from '../runtime/world.ts';
import type { ChainCheck } from './chain-check.ts';
import { ChainUnavailableError } from './chain-errors.ts';
import type { Chains, ConnectedChain } from './chains.ts';

export interface ConnectDeps {
  readonly world: World;
  readonly log: Log;
  /** Called with the result of every check of a network (CAIP-2), so that the operator can be alerted. */
  readonly onChecked?: (network: string, check: ChainCheck) => Promise<void>;
}

export interface ChainTerms extends Omit<ConnectedChain, 'payable' | 'problems'> {
  /** A check in addition to the chain's own check. Returns a reason not to use the chain at all, or undefined. */
  readonly objection?: () => Promise<string | undefined>;
  /**
   * Called with the assets that the chain's own check found payable. Returns the assets that must not be used, each with the
   * reason, by CAIP-19 id.
   */
  readonly admit?: (assets: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export interface ConnectedChains extends Chains {
  /** Resolves when every network has been checked once, whatever the outcome. */
  readonly firstCheck: Promise<void>;
  stop(): Promise<void>;
}

const RETRY = { firstMs: 1_000, maxMs: 30_000 };
/** The pause before a network with problems or contradictions is checked again: an operator may have fixed them. */
const PROBLEM_RETRY_MS = 60_000;
/** The pause between two checks of a network without problems. Most tokens are proxies, so their behaviour can change. */
const RECHECK_MS = 600_000;

/**
 * Checks every network against its chain, in the background. An unreachable network does not delay the start: only its own options
 * are missing until it answers. An asset with a problem loses only its own options.
 */
export function connectChains(deps: ConnectDeps, terms: readonly ChainTerms[]): ConnectedChains {
  const stopping = new AbortController();
  const connections = terms.map((each) => connect(deps, each, stopping.signal));
  const byNetwork = new Map(connections.map(({ connected }) => [connected.chain.network.chainId, connected]));
  const list = [...byNetwork.values()];
  return {
    find: (network) => byNetwork.get(network),
    list: () => list,
    firstCheck: Promise.all(connections.map(({ firstCheck }) => firstCheck)).then(() => {}),
    async stop() {
      stopping.abort();
      for (const { chain } of list) chain.close();
      await Promise.all(connections.map(({ ended }) => ended));
    },
  };
}

function connect(deps: ConnectDeps, terms: ChainTerms, stop: AbortSignal) {
  const { chain, objection: _objection, admit: _admit, ...rest } = terms;
  let found: { readonly payable: readonly string[]; readonly problems: readonly string[] } = {
    payable: [],
    problems: ['The network has not been checked yet.'],
  };
  const connected: ConnectedChain = { ...rest, chain, payable: () => found.payable, problems: () => found.problems };
  let onFirstCheck = () => {};
  const firstCheck = new Promise<void>((resolve) => {
    onFirstCheck = resolve;
  });

  async function keepChecking(): Promise<void> {
    for (let failures = 0; !stop.aborted; ) {
      const outcome = await checkNetwork(deps, terms);
      if (stop.aborted) return;
      const isKnown = !('reason' in outcome);
      const isWhole = isKnown && outcome.unchecked.length === 0;
      failures = isWhole ? 0 : failures + 1;
      if (isKnown) {
        const problems = outcome.problems.map(({ message }) => message);
        logChange(deps.log, chain.network.chainId, found.problems, problems);
        // An asset that could not be checked keeps its previous state.
        const kept = found.payable.filter((asset) => outcome.unchecked.includes(asset));
        found = { payable: [...outcome.payable, ...kept], problems };
        await report(deps, chain.network.chainId, outcome);
      } else if (failures === 1) {
        const { reason } = outcome;
        const offered = found.payable.length;
        deps.log.warn(
          { network: chain.network.chainId, reason, offered },
          'the network cannot be asked: nothing new is known of it',
        );
      }
      onFirstCheck();
      const isWell = isWhole && outcome.problems.length + outcome.disputes.length === 0;
      const whenWholeMs = isWell ? RECHECK_MS : PROBLEM_RETRY_MS;
      const pauseMs = isWhole ? whenWholeMs : backoffMs(RETRY, failures);
      await deps.world.timers.sleep(withJitter(deps.world, pauseMs), stop);
    }
  }
  const ended = keepChecking().finally(() => onFirstCheck());
  return { connected, firstCheck, ended };
}

async function checkNetwork(
  { log }: ConnectDeps,
  { chain, objection, admit }: ChainTerms,
): Promise<ChainCheck | { reason: string }> {
  try {
    const [check, reason] = await Promise.all([chain.check(), objection?.()]);
    if (reason !== undefined) {
      const problem = { subject: chain.network.chainId, message: reason };
      return { ...check, payable: [], unchecked: [], problems: [problem, ...check.problems] };
    }
    const refused = (await admit?.(check.payable)) ?? new Map<string, string>();
    if (refused.size === 0) return check;
    const problems = [...refused].map(([subject, message]) => ({ subject, message }));
    const payable = check.payable.filter((asset) => !refused.has(asset));
    return { ...check, payable, problems: [...problems, ...check.problems] };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { reason: error.message };
    // A bug in reading one chain's answers must not affect the other networks.
    log.error({ err: error, network: chain.network.chainId }, 'the network could not be checked');
    return { reason: 'it could not be checked' };
  }
}

async function report({ log, onChecked }: ConnectDeps, network: string, check: ChainCheck): Promise<void> {
  await onChecked?.(network, check).catch((error: unknown) => {
    log.warn({ err: error, network }, 'the outcome of a check could not be reported');
  });
}

function logChange(log: Log, network: string, before: readonly string[], problems: readonly string[]): void {
  if (problems.join() === before.join()) return;
  if (problems.length === 0) log.info({ network }, 'the network has no problems');
  else log.error({ network, problems }, 'parts of the network are switched off');
}
