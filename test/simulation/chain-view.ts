import type { Chain } from '../../src/chains/chain.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { ChainEvent, Incoming, Witness } from '../../src/chains/chain-reader.ts';
import { METHODS } from '../../src/chains/memory/faults.ts';
import { networkOf } from './networks.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** The calls of a node to its endpoints. Each is a step, and may fail or be answered late. */
const CALLS = new Set<string>(METHODS.filter((name) => name !== 'check'));
const WITNESS_CALLS = new Set<string>(['head', 'block', 'isUsed', 'holding', 'receipt', 'transfers', 'events']);
/** The lists that one endpoint gives, with the place of the first block among the arguments. */
const LISTS = { events: 0, incoming: 1 } as const;
const LATE_ANSWER = 0.08;

export interface ChainViewInput {
  readonly chain: Chain;
  readonly by: Participant;
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  /** True while this node cannot reach its endpoints. */
  readonly isCutOff: () => boolean;
  /** True if the next list of events is empty, as from a replica that has a block but not yet its logs. */
  readonly takeMissingLogs: () => boolean;
  /** Payments that the lying endpoint adds to its lists of events. */
  readonly forged: readonly Extract<ChainEvent, { readonly type: 'paid' }>[];
  /** Transfers that it adds to its lists of transfers. */
  readonly forgedTransfers: readonly Incoming[];
  /** Called before a transaction reaches the chain. */
  readonly onBroadcast: (bytes: string) => Promise<void>;
}

/** The chain as one node reaches it. */
export function viewChain(input: ChainViewInput): Chain {
  const { chain, by, scheduler, random, isCutOff, takeMissingLogs, forged, forgedTransfers, onBroadcast } = input;

  function gated(name: string, call: (...args: readonly unknown[]) => unknown) {
    return async (...args: readonly unknown[]) => {
      await scheduler.pass(by, `asks the chain: ${name}`);
      if (isCutOff()) throw new ChainUnavailableError(chain.network.chainId, 'out of reach');
      if (name === 'broadcast') await onBroadcast(String(args[0]));
      const answer = name in LISTS ? await listed(name as keyof typeof LISTS, call, args) : await call(...args);
      if (random.chance(LATE_ANSWER)) await scheduler.pass(by, `the chain answers: ${name}`);
      return answer;
    };
  }

  /** A list as one endpoint gives it: without some, or with some that it has made up. */
  async function listed(
    name: keyof typeof LISTS,
    call: (...args: readonly unknown[]) => unknown,
    args: readonly unknown[],
  ) {
    if (takeMissingLogs()) return [];
    const [from, to] = args.slice(LISTS[name]) as [number, number];
    const added = name === 'events' ? forged : forgedTransfers;
    const isAsked = ({ block, asset }: { readonly asset: string } & Pick<ChainEvent, 'block'>) =>
      networkOf(asset) === chain.network.chainId && block.number >= from && block.number <= to;
    return [...((await call(...args)) as readonly object[]), ...added.filter(isAsked)];
  }

  function wrap<T extends object>(target: T, calls: ReadonlySet<string>, prefix: string): T {
    return new Proxy(target, {
      get(of, key) {
        const value = Reflect.get(of, key);
        if (typeof value !== 'function' || !calls.has(String(key))) return value;
        return gated(`${prefix}${String(key)}`, value.bind(of));
      },
    });
  }

  const reader = new Proxy(wrap(chain.reader, CALLS, ''), {
    get: (of, key) =>
      key === 'witnesses'
        ? (): readonly Witness[] => chain.reader.witnesses().map((each) => wrap(each, WITNESS_CALLS, `${each.name} `))
        : Reflect.get(of, key),
  });
  return { ...chain, reader, payerSide: wrap(chain.payerSide, CALLS, ''), sender: wrap(chain.sender, CALLS, '') };
}
