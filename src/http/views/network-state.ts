import { type Static, Type } from 'typebox';
import type { SurveyedNetwork, SurveyedRelayer } from '../../actions/oversight/survey-networks.ts';
import { coinDecimal } from '../../chains/amount-text.ts';
import type { Network } from '../../chains/network.ts';
import type { AlertName } from '../../domain/alert.ts';
import type { Alert } from '../../store/plumbing/alerts.ts';
import { nullable, Timestamp } from '../schemas.ts';

/** Alerts that the books and a chain differ, or that they could not be compared. */
const BOOK_ALERTS: readonly AlertName[] = ['books_differ', 'books_unread', 'audit_failing'];

export function viewNetwork(
  { connected, cursor, relayers, auditedBlock }: SurveyedNetwork,
  alerts: readonly Alert[],
): Static<typeof NetworkBody> {
  const { chain } = connected;
  const { chainId, name, coin } = chain.network;
  const { headNumber, states } = chain.health();
  const isAbout = ({ subject }: Alert) => subject.includes(chainId);
  return {
    network: chainId,
    name,
    coin: coin.symbol,
    head: headNumber ?? null,
    readTo: cursor?.blockNumber ?? null,
    finalTo: cursor?.finalNumber ?? null,
    finalAt: cursor?.finalAt.toISOString() ?? null,
    lag: headNumber === undefined || cursor === undefined ? null : Math.max(0, headNumber - cursor.blockNumber),
    endpoints: states.map(({ name: endpoint, isUp, trouble }) => ({ name: endpoint, isUp, trouble: trouble ?? null })),
    disagreements: alerts
      .filter((alert) => alert.name === 'endpoints_disagree' && isAbout(alert))
      .map(({ message }) => message),
    problems: [...connected.problems()],
    relayers: relayers.map((relayer) => viewRelayer(chain.network, relayer)),
    gasPerItem: gasPerItem(chain.network, relayers),
    books: {
      auditedBlock: auditedBlock ?? null,
      problems: alerts
        .filter((alert) => BOOK_ALERTS.includes(alert.name) && isAbout(alert))
        .map(({ message }) => message),
    },
  };
}

function viewRelayer(
  network: Network,
  { address, balance, inFlight, isLed, spentPerDay, itemsPerDay }: SurveyedRelayer,
) {
  return {
    address,
    balance: balance === undefined ? null : coinDecimal(network, balance),
    spentPerDay: coinDecimal(network, spentPerDay),
    daysLeft: balance === undefined || spentPerDay === 0n ? null : Number(balance / spentPerDay),
    itemsPerDay,
    inFlight,
    isLed,
  };
}

/** The average gas cost of an item in the last 24 hours, in coin. */
function gasPerItem(network: Network, relayers: readonly SurveyedRelayer[]): string | null {
  const items = relayers.reduce((sum, { itemsPerDay }) => sum + itemsPerDay, 0);
  const coin = relayers.reduce((sum, { spentPerDay }) => sum + spentPerDay, 0n);
  return items === 0 ? null : coinDecimal(network, coin / BigInt(items));
}

const Block = (description: string) => nullable(Type.Integer({ description }));

export const NetworkBody = Type.Object(
  {
    network: Type.String({ description: 'CAIP-2.' }),
    name: Type.String(),
    coin: Type.String({ description: 'Symbol of the coin that pays for gas.' }),
    head: Block('The highest block that an endpoint has reported.'),
    readTo: Block('The last block that a watcher has read.'),
    finalTo: Block('The last block of final depth that was read.'),
    finalAt: nullable(Timestamp),
    lag: Block('Blocks between the head and the last block that was read.'),
    endpoints: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Its place in the configuration, never its address.' }),
          isUp: Type.Boolean(),
          trouble: nullable(Type.String({ description: 'Why it is not up.' })),
        },
        { title: 'NetworkEndpoint' },
      ),
    ),
    disagreements: Type.Array(Type.String(), { description: 'What the endpoints disagree about, in sentences.' }),
    problems: Type.Array(Type.String(), { description: 'Problems that the last check of the network found.' }),
    relayers: Type.Array(
      Type.Object(
        {
          address: Type.String(),
          balance: nullable(Type.String({ description: 'In whole coins. Null: the chain cannot be asked.' })),
          spentPerDay: Type.String({ description: 'Gas of the last 24 hours, in whole coins.' }),
          daysLeft: nullable(Type.Integer({ description: 'Days that the balance lasts at this pace.' })),
          itemsPerDay: Type.Integer({
            description: 'Payments, payouts and refunds that it sent in the last 24 hours.',
          }),
          inFlight: Type.Integer({ description: 'Transactions that are not final yet.' }),
          isLed: Type.Boolean({ description: 'True if a node works with it.' }),
        },
        { title: 'RelayerState' },
      ),
    ),
    gasPerItem: nullable(Type.String({ description: 'The average of the last 24 hours, in whole coins.' })),
    books: Type.Object(
      {
        auditedBlock: Block('The block up to which the books agree with the chain.'),
        problems: Type.Array(Type.String(), {
          description: 'Differences between the books and the chain, in sentences.',
        }),
      },
      { title: 'BooksState' },
    ),
  },
  { title: 'NetworkState' },
);
