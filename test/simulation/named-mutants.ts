// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are lines of source code
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * Faults that no run shows: they are about settings, commands, the adapter of a chain, or hundreds of rows. Each is a changed line
 * in a copy of the source, which the named test must notice.
 */
interface NamedMutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: string;
  /** The beginning of the title of a test in that file, which fails. */
  readonly title: string;
}

export const NAMED_MUTANTS: readonly NamedMutant[] = [
  {
    name: 'payments that must wait are judged again before all others',
    file: 'src/store/chain/due-items.ts',
    from: "::jsonb ->> p.merchant_id, ''), p.id) as turn",
    to: "::jsonb ->> '', ''), p.id) as turn",
    test: 'test/attacks/stranger-endings.test.ts',
    title: 'delays no ending of others by payments that must wait',
  },
  {
    name: 'a used nonce is taken without its transfer',
    file: 'src/actions/paying/x402/accept-authorization.ts',
    from: "const isTaken = use === 'arrived';",
    to: "const isTaken = verdict.is === 'used';",
    test: 'test/e2e/x402.test.ts',
    title: 'takes no authorization whose nonce was used before',
  },
  {
    name: 'an opened address keeps an attempt alive',
    file: 'src/actions/watch/judge-payments.ts',
    from: 'if (first === undefined || addresses.length === items.length || !isOver) return;',
    to: 'if (first === undefined || addresses.length > 0 || !isOver) return;',
    test: 'test/attacks/stranger-lapses.test.ts',
    title: 'cannot keep a signature alive by an opened address and dust',
  },
  {
    name: 'the higher tip of two endpoints is paid',
    file: 'src/chains/evm/fees.ts',
    from: 'told.map(usualTip).reduce(min);',
    to: 'told.map(usualTip).reduce(max);',
    test: 'test/attacks/one-endpoint.test.ts',
    title: 'tip: the lower of two is paid',
  },
  {
    name: 'items of a relayer whose key is gone are not due again',
    file: 'src/actions/watch/tend-former-sends.ts',
    from: '(tx) => releaseStranded(tx, { network, signers, before }));',
    to: 'async () => 0);',
    test: 'test/e2e/former-relayers.test.ts',
    title: 'have their payments sent by others when their transaction cannot be mined',
  },
  {
    name: 'open work is expected on configured networks alone',
    file: 'src/actions/oversight/missing-networks.ts',
    from: 'const open = await findOpenNetworks(db, served);',
    to: 'const open = (await findOpenNetworks(db, served)).filter(({ network }) => served.includes(network));',
    test: 'test/e2e/removed-network.test.ts',
    title: 'raises an alert and is named by /ready while it has open work',
  },
  {
    name: 'a swept wrong token blocks every signature of its payment',
    file: 'src/store/chain/due-items.ts',
    from: "and other.purpose <> 'sweep' and other.method not in",
    to: 'and other.method not in',
    test: 'test/e2e/money-faults.test.ts',
    title: 'in a wrong token, swept by us, keeps no signature of the payment from being sent',
  },
  {
    name: 'a float is credited with money that has an owner',
    file: 'src/actions/outgoing/float/add-float.ts',
    from: ': await unownedOf(db.sql, { network, accounts }, arrived);',
    to: ': arrived;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is no float if a stranger has swept it',
  },
  {
    name: 'our accounts are those of the settings alone',
    file: 'src/actions/own-accounts.ts',
    from: 'return unique([...configuredAccounts(connected), ...stored])',
    to: 'return unique([...configuredAccounts(connected), ...stored.slice(stored.length)])',
    test: 'test/e2e/own-accounts.test.ts',
    title: 'have paid refunds that a database from before the change does not pay twice',
  },
  {
    name: 'a floor is taken away',
    file: 'src/domain/book-floors.ts',
    from: "if (KINDS[entry.kind] === 'spends') throw new FloorError(taken, entry.kind);",
    to: '',
    test: 'test/e2e/floors.test.ts',
    title: 'refuses to take more than there is from payable, by a payout',
  },
  {
    name: 'solvency is compared with another asset',
    file: 'src/actions/books/audit/solvency.ts',
    from: 'heldAt(deps, connected, { accounts, asset: each.asset, block, hash });',
    to: 'heldAt(deps, connected, { accounts, asset: coinOf(network), block, hash });',
    test: 'test/e2e/solvency.test.ts',
    title: 'freezes what leaves in the asset when it lacks at two successive blocks',
  },
];

const ROOT = join(import.meta.dirname, '../..');
/** Folders that the copy has by reference: no test changes them. */
const SHARED = ['node_modules', 'web', 'docs'];
const LEFT_OUT = ['.git', ...SHARED];

/** A copy of the project whose source can be changed. */
export function openCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'till-mutants-'));
  for (const name of readdirSync(ROOT)) {
    if (SHARED.includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
    else if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  return {
    /** True if the named test fails with the change. */
    async isNoticed({ file, from, to, test, title }: NamedMutant): Promise<boolean> {
      const path = join(folder, file);
      const source = readFileSync(path, 'utf8');
      if (source.split(from).length !== 2) throw new Error(`${file} does not contain this once: ${from}`);
      writeFileSync(
        path,
        source.replace(from, () => to),
      );
      const child = spawn(process.execPath, ['test/run.ts', test], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      writeFileSync(path, source);
      if (!output.includes(` ${title}`)) throw new Error(`${test} has no test "${title}", or did not run.`);
      return output.includes(`✖ ${title}`);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
