import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SANDBOX_ASSETS } from '../../test/chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from '../../test/e2e/books-scene.ts';
import { runCommand } from '../../test/run-command.ts';

describe('commands about the books', () => {
  let scene: BooksScene;
  let paymentId: string;
  before(async () => {
    scene = await openBooksScene();
    ({ id: paymentId } = await scene.accept({ terms: { amount: 1_000_000n, fee: 4_000n } }));
    const node = await scene.newNode();
    await node.turn(2);
    await scene.seal();
  });
  after(() => scene.close());

  const till = (...argv: string[]) =>
    runCommand(argv, { env: { DATABASE_URL: scene.databaseUrl }, world: scene.world });

  it('export a period as CSV and as JSON', async () => {
    const period = ['--from', '2026-03-01', '--to', '2026-03-02'];
    const { exitCode, stdout } = await till('books', 'export', ...period);
    assert.equal(exitCode, 0);
    const [head, line, ...rest] = stdout.trimEnd().split('\n');
    assert.equal(head, 'at,kind,merchant,payment,asset,symbol,gross,fee,net,transaction,ratePair,rate');
    const asset = SANDBOX_ASSETS['eip3009-vrs'];
    assert.match(
      line ?? '',
      new RegExp(`^2026-03-01T[^,]+,paid,mrch_test,${paymentId},${asset},USDC,1,0.004,0.996,0x[0-9a-f]{64},,$`),
    );
    assert.deepEqual(rest, []);
    const json = await till('books', 'export', '--format', 'json', ...period, '--merchant', 'mrch_test');
    assert.deepEqual(
      JSON.parse(json.stdout).map(({ payment, net }: Record<string, string>) => [payment, net]),
      [[paymentId, '0.996']],
    );
    const other = await till('books', 'export', ...period, '--merchant', 'mrch_other');
    assert.equal(other.stdout.trimEnd(), head);
  });

  it('refuse periods that are none', async () => {
    const { exitCode, stderr } = await till('books', 'export', '--from', '2026-03-02', '--to', '2026-03-01');
    assert.equal(exitCode, 2);
    assert.match(stderr, /--to must be later than --from/);
    assert.equal((await till('books', 'export', '--from', '2026-02-30', '--to', 'x')).exitCode, 2);
    assert.equal((await till('reconcile', '--from', '5')).exitCode, 2);
    assert.equal((await till('rebuild', '--network', 'eip155:1', '--from', '5', '--to', '4')).exitCode, 2);
  });

  it('show balances', async () => {
    const { stdout } = await till('books', 'balances', '--json');
    const fees = JSON.parse(stdout).find(({ account }: { account: string }) => account === 'fees');
    assert.equal(fees.units, '4000');
  });

  it('verify the books, and fail when they were changed', async () => {
    const clean = await till('books', 'verify');
    assert.equal(clean.exitCode, 0);
    assert.match(clean.stdout, /No entry was changed, and every balance adds up\./);
    await scene.tamper(`update book_entries set subject = 'pay_other' where sequence = 1`);
    const changed = await till('books', 'verify');
    assert.equal(changed.exitCode, 1);
    assert.match(changed.stdout, /eip155:31337: Entry 1 \(accepted of pay_other, id \d+\) was changed\./);
  });
});
