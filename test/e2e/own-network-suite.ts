import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Hex } from 'viem';
import type { InstalledNode } from '../chains/nodes/install-node.ts';
import type { Installation } from '../node-process.ts';
import { until } from '../until.ts';
import { OWN_COIN, OWN_NETWORK, type OwnNetworkScene, openOwnNetwork, payOn, succeeds } from './own-network-scene.ts';

/** Ten dollars in units of the two tokens. */
const PRICE = { dollar: 10_000_000n, plain: 10n ** 19n };

/** A network of the operator's own, with the programs of an installation; `more` adds tests of that installation. */
export function describeOwnNetwork(
  title: string,
  hardhat: InstalledNode,
  install: (folder: string) => Promise<Installation>,
  more: (scene: () => OwnNetworkScene) => void = () => {},
): void {
  describe(title, () => {
    let scene: OwnNetworkScene;
    let folder: string;
    let depositAddress: Hex;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'till-own-network-'));
      scene = await openOwnNetwork(hardhat, await install(folder));
    });
    after(async () => {
      await scene?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('is described, provided with our contracts and checked by the commands of the guide', () => {
      const { added, more: token, deployed, checked } = scene.said;
      assert.match(added, /The Collector is not deployed/);
      assert.match(added, /USDO: has EIP-3009, .* version "2", found by DOMAIN_SEPARATOR\(\)/);
      assert.match(token, /PLAIN: has no EIP-3009[\s\S]*after a one-time approval/);
      assert.match(deployed, /The CREATE2 deployer was missing[\s\S]*The Collector is now at /);
      assert.match(checked, /Own Chain .*ETH USDO PLAIN[\s\S]*No problems found\./);
    });

    it('takes a payment by EIP-3009, and gives it back', async () => {
      const { dollar, payer, balanceOf, get, post } = scene;
      const before = await balanceOf(dollar, payer.address);
      const id = await payOn(scene, `${OWN_NETWORK}/erc20:${dollar}`);
      assert.equal(await balanceOf(dollar, payer.address), before - PRICE.dollar);
      const refunded = await post('/v1/refunds', { paymentId: id });
      assert.equal(refunded.statusCode, 200, refunded.body);
      const isRefunded = async () => (await get(`/v1/payments/${id}`)).json().refund?.status === 'refunded';
      await until('it is refunded', isRefunded);
      assert.equal(await balanceOf(dollar, payer.address), before);
    });

    it('takes a payment by Permit2 after an approval', async () => {
      const { plain, payer, balanceOf, intermediate } = scene;
      const before = await balanceOf(plain, payer.address);
      await payOn(scene, `${OWN_NETWORK}/erc20:${plain}`);
      assert.equal(await balanceOf(plain, payer.address), before - PRICE.plain);
      assert.equal(await balanceOf(plain, intermediate), PRICE.plain, 'held for a merchant without a destination');
    });

    it('takes a payment in its coin', async () => {
      await payOn(scene, OWN_COIN);
    });

    it('takes a plain transfer to an address of the payment', async () => {
      const { created, wallet, transfer, dollar } = scene;
      const { paymentId: id } = await created();
      const opened = await wallet.post(id, 'address', { asset: `${OWN_NETWORK}/erc20:${dollar}` });
      assert.equal(opened.statusCode, 200, opened.body);
      const { address, amount } = opened.json() as { address: string; amount: { value: string } };
      assert.equal(BigInt(amount.value), PRICE.dollar);
      depositAddress = address.slice(OWN_NETWORK.length + 1) as Hex;
      await transfer(dollar, depositAddress, PRICE.dollar);
      await succeeds(scene, id);
    });

    more(() => scene);

    it('has books that nobody has changed, and that agree with the chain', async () => {
      const { dollar, balanceOf, till, run } = scene;
      await until('the deposit is swept', async () => (await balanceOf(dollar, depositAddress)) === 0n);
      let said = '';
      const isAgreed = async () => {
        const { exitCode, stdout, stderr } = await run('reconcile', '--json');
        said = stdout + stderr;
        if (exitCode !== 0) return false;
        const [report] = JSON.parse(stdout);
        return report.waiting === 0 && report.events >= 4;
      };
      await until('the books and the chain agree', isAgreed).catch((error: Error) => {
        throw new Error(`${error.message} ${said}`);
      });
      assert.match(await till('books', 'verify'), /eip155:777777 .*[\s\S]*every balance adds up/);
    });
  });
}
