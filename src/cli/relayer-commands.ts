import { listRelayers } from '../actions/relay/list-relayers.ts';
import { formatDecimal } from '../domain/money.ts';
import { withChains } from './chains.ts';
import { type Command, databaseCommand } from './command.ts';
import { listing } from './listing.ts';

const COIN_DECIMALS = 18;

const list = databaseCommand({
  name: 'relayers list',
  summary: 'Show the accounts that send transactions, former ones too: balance, next nonce and transactions in flight.',
  examples: ['relayers list', 'relayers list --json'],
  run: (deps) =>
    withChains(deps, async (chains) => {
      const relayers = await listRelayers({ chains, db: deps.db, clock: deps.world.clock });
      const rows = relayers.map(({ balance, nextNonce, ...rest }) => ({
        ...rest,
        // A string, because many programs read JSON numbers as floats.
        balance: balance === undefined ? null : formatDecimal({ units: balance, decimals: COIN_DECIMALS }),
        nextNonce: nextNonce ?? null,
      }));
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
