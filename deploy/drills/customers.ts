import { countPayments, type JudgedScene, judgeOrders } from '../../test/crash/judge-orders.ts';
import { type LoadedScene, type LoadInput, type Order, type Sent, startLoad } from '../../test/crash/load.ts';
import { until } from '../../test/until.ts';
import type { Step } from './drill.ts';

/** A machine that runs three nodes, databases and customers is slow at times, which is no failure. */
export const ANSWER_WITHIN_MS = 60_000;
const SOON = { withinMs: 400_000 };

export type Customers = ReturnType<typeof startCustomers>;

/** Customers who buy all the time, and a record of all their requests. */
export function startCustomers(scene: LoadedScene, input: LoadInput) {
  const sent: Sent[] = [];
  const load = startLoad(scene, { ...input, onSent: (each) => void sent.push(each) });
  const endedOrders = () => load.orders.filter(({ isOver }) => isOver).length;
  return {
    orders: load.orders,
    stop: load.stop,
    endedOrders,
    wrongOrders: () => load.orders.filter(({ misreports }) => misreports.length > 0).length,
    failedRequests: () => sent.filter(({ problem }) => problem !== undefined),
    requests: () => sent.length,
    /** Waits until so many more orders were paid and refunded. */
    async untilServed(more: number, what: string) {
      const known = endedOrders();
      await until(what, () => endedOrders() >= known + more, SOON);
    },
    /** The longest time since then in which no request was answered. */
    longestSilenceMs(fromMs: number): number {
      const times = sent.filter(({ problem, toMs }) => problem === undefined && toMs >= fromMs).map(({ toMs }) => toMs);
      const inOrder = [fromMs, ...times.toSorted((a, b) => a - b)];
      return Math.max(...inOrder.map((atMs, index) => atMs - (inOrder[index - 1] ?? atMs)));
    },
  };
}

/** The judgement over all orders, from the API and the chain, and the comparison of the books with the chain. */
export async function judgeAll(
  scene: JudgedScene & { compareBooks(): Promise<string> },
  orders: readonly Order[],
  print: (text: string) => void,
): Promise<readonly Step[]> {
  const { lost, doubled, misreported } = await judgeOrders(scene, orders);
  const surplus = (await countPayments(scene)) - orders.length;
  const books = await scene.compareBooks();
  for (const text of [...lost, ...doubled, ...misreported]) print(text);
  const sums = `${lost.length} lost, ${doubled.length} doubled, ${misreported.length} misreported, ${surplus} without an order`;
  return [
    {
      step: 'all orders',
      result: `${orders.length} orders: ${sums}`,
      isGood: lost.length + doubled.length + misreported.length + Math.abs(surplus) === 0,
    },
    { step: 'books against the chain', result: books || 'equal', isGood: books === '' },
  ];
}
