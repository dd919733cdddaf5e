import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { type OwnChainScene, openOwnChainScene } from './own-chain-scene.ts';

describe('the roles of a node', () => {
  let scene: OwnChainScene;
  before(async () => {
    scene = await openOwnChainScene();
  });
  after(() => scene.close());

  const leaseNames = async () => (await scene.sql<{ name: string }[]>`select name from leases`).map(({ name }) => name);

  it('without `api` is the work alone, with probes and metrics on the metrics port', ONLY_LONG, async () => {
    const metricsPort = String(await findPort(systemWorld.random));
    const node = await scene.start({ METRICS_PORT: metricsPort, ROLES: 'api' }, ['--role', 'watch']);
    const monitor = `http://127.0.0.1:${metricsPort}`;
    const isReady = () =>
      fetch(`${monitor}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until('the node is ready', isReady);
    await until('the node watches', async () => (await leaseNames()).includes('watch eip155:31337'));
    assert.equal((await fetch(`${monitor}/health`)).status, 200);
    assert.match(
      await (await fetch(`${monitor}/metrics`)).text(),
      /^till_lease_held\{lease="watch eip155:31337"\} 1$/m,
    );
    await assert.rejects(fetch(`${node.baseUrl}/health`), 'nothing listens on the port of the API');
    await until('the node checks its clock and looks for work that no node does', async () => {
      const text = await (await fetch(`${monitor}/metrics`)).text();
      return ['check-clock', 'check-work'].every((job) =>
        text.includes(`till_job_runs_total{job="${job}",outcome="ok"}`),
      );
    });
    assert.deepEqual(await leaseNames(), ['watch eip155:31337'], 'the node leads nothing else');
    node.signal('SIGTERM');
    assert.equal(await node.ended, 0, node.output());
  });

  it('with `api` alone is the routes, without any work that needs a lease', async () => {
    await scene.sql`delete from leases`;
    const node = await scene.start({}, ['--role', 'api']);
    const { apiKey, merchantId } = await node.ready();
    const answer = await fetch(`${node.baseUrl}/v1/merchants/${merchantId}`, { headers: { 'Api-Key': apiKey } });
    assert.equal(answer.status, 200);
    assert.deepEqual(await leaseNames(), []);
  });

  it('have no other option', async () => {
    const misspelt = await scene.start({}, ['--roles', 'api']);
    assert.equal(await misspelt.ended, 2);
    assert.match(misspelt.output(), /The command line is invalid: .*--roles/);
  });
});
