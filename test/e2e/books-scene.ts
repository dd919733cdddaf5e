import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { sealLeaseName, sealOnce } from '../../src/actions/books/seal-entries.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { command } from '../../src/actions/command.ts';
import { listBalances } from '../../src/store/money/books.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { openRelayScene, type SceneInput } from './relay-scene.ts';

export type BooksScene = Awaited<ReturnType<typeof openBooksScene>>;

/** The scene of relayers and watchers, with bookkeeping and ways to tamper with the books. */
export async function openBooksScene(input: SceneInput = {}) {
  const scene = await openRelayScene(input);
  const { network } = scene;
  const connected = scene.chains.find(network);
  if (connected === undefined) throw new Error('The scene has no chain.');
  const far = new Date(Date.UTC(2100, 0, 1));
  const lead = async () => {
    const ask = { name: sealLeaseName(network), holder: 'test', now: far, until: new Date(scene.nowMs()) };
    const lease = await command(scene, (tx) => takeLease(tx, ask));
    if (lease === undefined) throw new Error('The lease was not to be had.');
    return lease;
  };
  const deps = { ...scene, holder: 'test' };

  return {
    ...scene,
    connected,
    lead,
    async seal() {
      const lease = await lead();
      for (let rounds = 0; await sealOnce(deps, network, lease); rounds += 1) {
        if (rounds > 100) throw new Error('The sealer does not come to an end.');
      }
    },
    /** Records the relayers' balances, so that later losses are detected. */
    openRelayers: async () => recordCoin(deps, { connected, lease: await lead() }),
    verify: async () => (await verifyBooks(scene.db.sql)).find((report) => report.network === network),
    async problems() {
      return (await verifyBooks(scene.db.sql)).flatMap(({ problems }) => problems);
    },
    async differences() {
      const report = await reconcile(scene, connected, { from: 0 });
      return report?.differences.map(({ message }) => message) ?? ['The chain was not read.'];
    },
    /** The balances of an asset's accounts. */
    async balances(asset: string) {
      const rows = await listBalances(scene.db.sql, network);
      return Object.fromEntries(
        rows.filter((row) => row.asset === asset).map(({ account, units }) => [account, units]),
      );
    },
    /** Changes rows behind the gateway's back, past every guard. */
    async tamper(statement: string) {
      await command(scene, async (tx) => {
        await tx.unsafe('set local session_replication_role = replica');
        const { count } = await tx.unsafe(statement);
        if (count === 0) throw new Error('Nothing was tampered with.');
      });
    },
    /** Deletes all rows of a swept payment at a deposit address, as an older backup has none of them. */
    async forget(id: string, commitment: string) {
      for (const statement of [
        `delete from events where object_id = '${id}'`,
        `delete from book_entries where reference = '${commitment}'`,
        `delete from payment_settlements where payment_id = '${id}'`,
        `delete from movements where payment_id = '${id}'`,
        `delete from lots where payment_id = '${id}'`,
        `delete from positions where payment_id = '${id}'`,
        `delete from deposit_places where payment_id = '${id}'`,
        `delete from deposits where commitment = '${commitment}'`,
        'delete from relay_items where true',
        `delete from items where subject = '${id}'`,
        `delete from payments where id = '${id}'`,
      ]) {
        await this.tamper(statement);
      }
    },
  };
}
