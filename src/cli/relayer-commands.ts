import { listRelayers } from '../actions/relay/list-relayers.ts';
import { coinDecimal } from '../chains/amount-text.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand } from './command.ts';
import { listing } from './listing.ts';

const list = databaseCommand({
  name: 'relayers list',
  summary: 'Show the accounts that send transactions, former ones too: balance, next nonce and transactions in flight.',
  examples: ['relayers list', 'relayers list --json'],
  run: (deps) =>
    withChains(deps, async (chains) => {
      const relayers = await listRelayers({ chains, db: deps.db, clock: deps.world.clock });
      const rows = relayers.map(({ balance, nextSlot, ...rest }) => {
        const network = chains.find(rest.network)?.chain.network;
        return {
          ...rest,
          // The balance is printed as a string, because many programs read JSON numbers as floats.
          balance: network === undefined || balance === undefined ? null : coinDecimal(network, balance),
          nextNonce: nextSlot ?? null,
        };
      });
      return listing(rows, {
        columns: [
          { title: 'network', cell: ({ network }) => network },
          { title: 'address', cell: ({ address }) => address },
          { title: 'balance', cell: ({ balance }) => balance ?? 'unknown' },
          { title: 'next nonce', cell: ({ nextNonce }) => (nextNonce === null ? 'unknown' : String(nextNonce)) },
          { title: 'in flight', cell: ({ inFlight }) => String(inFlight) },
          {
            title: 'at work',
            cell: ({ isLed, isFormer }) => (isFormer ? 'no, its key is gone' : isLed ? 'yes' : 'no'),
          },
        ],
        empty: 'No relayers are configured: see RELAYER_KEYS.',
      });
    }),
});

export const relayerCommands: readonly Command[] = [list];
