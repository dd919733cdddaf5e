import type { ChainEvent } from '../../src/chains/chain-reader.ts';
import type { Reader } from '../../src/store/plumbing/database.ts';
import type { SimNetwork } from './networks.ts';

type SweptEvent = Extract<ChainEvent, { readonly type: 'swept' }>;

/** The money of a deposit address in the asked token, as the whole chain shows it. */
export interface DepositOnChain {
  readonly paymentId: string;
  readonly commitment: string;
  readonly address: string;
  readonly status: string;
  readonly itemState: string;
  readonly asked: bigint;
  readonly fee: bigint;
  readonly recipient: string;
  /** By the database. */
  readonly stored: { readonly arrived: bigint; readonly swept: bigint; readonly reported: bigint };
  readonly arrived: bigint;
  /** The part that arrived in blocks up to the deadline. */
  readonly inTime: bigint;
  readonly left: bigint;
  readonly sweeps: readonly SweptEvent[];
}

/** The parts of the stage that this needs. */
interface Seen {
  readonly sql: Reader;
  readonly networks: readonly SimNetwork[];
}

type Row = Record<
  'paymentId' | 'commitment' | 'address' | 'asset' | 'status' | 'state' | 'amount' | 'fee' | 'recipient',
  string
> &
  Record<'arrived' | 'swept' | 'reported', string> & { readonly deadline: Date };

/** The deposit addresses of a payment, or of all payments. */
export async function depositsOnChain({ sql, networks }: Seen, paymentId?: string): Promise<DepositOnChain[]> {
  const found = [];
  for (const network of networks) found.push(...(await depositsOn(sql, network, paymentId)));
  return found;
}

async function depositsOn(
  sql: Reader,
  { connected: { chain }, control }: SimNetwork,
  paymentId: string | undefined,
): Promise<DepositOnChain[]> {
  const rows = await sql<Row[]>`
    select d.payment_id as "paymentId", d.commitment, d.address, d.asset, p.status, i.state, i.amount::text, i.fee::text,
      i.recipient, i.deadline, k.arrived::text, k.swept::text, k.reported::text
    from deposits d join lateral (
      select coalesce(sum(l.amount), 0) as arrived, coalesce(sum(l.fee + l.net), 0) as swept,
        coalesce(sum(s.amount), 0) as reported
      from lots l left join strays s on s.lot_id = l.id
      where l.payment_id = d.payment_id and l.commitment = d.commitment and l.network = d.network and l.asset = d.asset) k on true
    join items i on i.commitment = d.item join payments p on p.id = d.payment_id
    where d.network = ${chain.network.chainId} and (${paymentId ?? null}::text is null or d.payment_id = ${paymentId ?? null}) order by d.commitment`;
  if (rows.length === 0) return [];
  const { number } = await chain.reader.head();
  const addresses = new Set(rows.map(({ address }) => address));
  const [transfers, events] = await Promise.all([
    chain.reader.incoming(addresses, 0, number),
    chain.reader.events(0, number),
  ]);
  const heights = [...new Set(transfers.map(({ block }) => block.number))];
  const timesS = new Map(
    await Promise.all(
      heights.map(async (height) => [height, (await chain.reader.block(height))?.timestampS ?? 0] as const),
    ),
  );
  return rows.map((row) => {
    const { address, asset, commitment, deadline } = row;
    const own = transfers.filter(({ to, asset: sent }) => to === address && sent === asset);
    const sum = (of: typeof own) => of.reduce((total, { amount }) => total + amount, 0n);
    const isInTime = ({ block }: (typeof own)[number]) => (timesS.get(block.number) ?? 0) * 1000 <= deadline.getTime();
    return {
      paymentId: row.paymentId,
      commitment,
      address,
      status: row.status,
      itemState: row.state,
      asked: BigInt(row.amount),
      fee: BigInt(row.fee),
      recipient: row.recipient,
      stored: { arrived: BigInt(row.arrived), swept: BigInt(row.swept), reported: BigInt(row.reported) },
      arrived: sum(own),
      inTime: sum(own.filter(isInTime)),
      left: control.balanceOf(address, asset),
      sweeps: events.filter(
        (event): event is SweptEvent =>
          event.type === 'swept' && event.commitment === commitment && event.asset === asset,
      ),
    };
  });
}
