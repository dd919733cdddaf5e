import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tracedPayments } from '../../src/actions/paying/traced-payments.ts';
import { attemptDelivery } from '../../src/actions/webhooks/attempt-delivery.ts';
import { tracedAttempt } from '../../src/actions/webhooks/traced-attempt.ts';
import { tracedTransport } from '../../src/chains/evm/traced-transport.ts';
import type { Transport } from '../../src/chains/evm/transport.ts';
import type { App } from '../../src/http/deps.ts';
import { traceRequests } from '../../src/http/entry/trace-requests.ts';
import { traced } from '../../src/runtime/tracing.ts';
import { startReceiver } from '../receiver.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import { payWith } from './sandbox-payer.ts';

/** A span as a receiver decodes it. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const HEADER = 'Bearer secret-of-the-receiver';
const SHOP = { referenceId: 'REFERENCE-OF-A-SHOP', description: 'A birthday present' };

function attributeOf({ attributes }: Pick<Span, 'attributes'>, key: string): unknown {
  const value = attributes.find((each) => each.key === key)?.value ?? {};
  return value.stringValue ?? (value.intValue === undefined ? undefined : Number(value.intValue));
}

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startReceiver>>;
  let shop: Awaited<ReturnType<typeof startReceiver>>;
  let sandbox: Sandbox;
  let wallet: TestWallet;
  before(async () => {
    [collector, shop] = await Promise.all([startReceiver(), startReceiver()]);
    sandbox = await startSandbox({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(HEADER)}`,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_SERVICE_NAME: 'shop-till',
    });
    wallet = await sandbox.createWallet({ USDC: 10n ** 9n });
  });
  after(async () => {
    await sandbox.stop();
    await Promise.all([collector.stop(), shop.stop()]);
  });

  const spans = (): Span[] =>
    collector.received
      .flatMap(({ body }) => (JSON.parse(body) as Export).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const named = (name: string) => spans().filter((span) => span.name === name);

  /** The span, as soon as it has arrived. */
  async function arrived(what: string, find: () => Span | undefined): Promise<Span> {
    await until(`the span of ${what} has arrived`, async () => find() !== undefined, { withinMs: 20_000 });
    return find() as Span;
  }

  it('show a payment from the request to the webhook, across the relayer', async () => {
    // The shop of the sandbox has an endpoint, too.
    const { webhookEndpoint: endpoint } = await sandbox.call<{ webhookEndpoint: { id: string } }>(
      'POST',
      '/v1/webhook-endpoints',
      { url: `${shop.origin}/hooks/secret-of-the-shop`, events: ['payment.succeeded'] },
    );
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1299', SHOP);
    await payWith(sandbox, wallet, paymentId, 'USDC');
    const isAbout = (span: Span) => attributeOf(span, 'till.payment.id') === paymentId;
    const linksTo = (span: Span, { traceId, spanId }: Span) =>
      span.links?.some((link) => link.traceId === traceId && link.spanId === spanId) === true;

    const payment = await arrived('the payment', () => named('payment').find(isAbout));
    assert.ok(!payment.parentSpanId);

    // Request, action, transaction and statement, each below the one before.
    const creation = await arrived('the creation', () =>
      named('create-payment').find(({ spanId }) => payment.links?.some((link) => link.spanId === spanId)),
    );
    const order = await arrived('the order', () => named('POST /v1/payments').find((span) => isParent(span, creation)));
    assert.ok(!order.parentSpanId);
    assert.equal(attributeOf(order, 'http.response.status_code'), 201);
    const insertion = await arrived('the insertion', () => named('statement').find((span) => isBelow(span, creation)));
    assert.match(String(attributeOf(insertion, 'db.query.text')), /^(with|insert) .*\$1/);
    assert.equal(attributeOf(insertion, 'db.system.name'), 'postgresql');

    const confirm = await arrived('the confirmation', () =>
      named('POST /v1/gateway/payment/:id/confirm').find(isAbout),
    );
    assert.ok(linksTo(confirm, payment));
    const move = await arrived('the move', () => named('move-payment').find((span) => isParent(confirm, span)));
    await arrived('a transaction of the move', () => named('transaction').find((span) => isParent(move, span)));
    const options = await arrived('the options', () => named('POST /v1/gateway/payment/:id/options').find(isAbout));
    const call = await arrived('a call of the options', () =>
      named('rpc').find((span) => span.traceId === options.traceId),
    );
    assert.match(String(attributeOf(call, 'rpc.method')), /^eth_\w+( eth_\w+)*$/);
    assert.equal(attributeOf(call, 'till.network'), 'eip155:31337');

    // The relayer sends in a trace of its own.
    const send = await arrived('the send', () => named('send').find((span) => linksTo(span, payment)));
    assert.notEqual(send.traceId, confirm.traceId);
    assert.ok(!send.parentSpanId);
    const broadcast = await arrived('the broadcast', () =>
      named('rpc').find(
        (span) =>
          span.traceId === send.traceId && /eth_sendRawTransaction/.test(String(attributeOf(span, 'rpc.method'))),
      ),
    );
    assert.ok(isBelow(broadcast, send));

    const delivery = await arrived('the delivery', () =>
      named('delivery').find((span) => linksTo(span, payment) && attributeOf(span, 'till.endpoint.id') === endpoint.id),
    );
    assert.equal(attributeOf(delivery, 'till.event.type'), 'payment.succeeded');
    assert.equal(attributeOf(delivery, 'http.response.status_code'), 200);
    await arrived('a job', () => spans().find(({ name }) => name.startsWith('job ')));
  });

  it('carry the headers to the receiver, and no secret and nothing about a payer', async () => {
    assert.ok(collector.received.length > 0);
    assert.ok(
      collector.received.every(({ path, headers }) => path === '/v1/traces' && headers.authorization === HEADER),
    );
    const all = collector.received
      .map(({ body }) => body)
      .join('\n')
      .toLowerCase();
    const [resource] = collector.received.flatMap(({ body }) => (JSON.parse(body) as Export).resourceSpans);
    assert.ok(resource);
    assert.equal(attributeOf(resource.resource, 'service.name'), 'shop-till');
    const address = wallet.account.split(':')[2] ?? '';
    assert.ok(address.startsWith('0x'));
    const private_ = [
      address,
      address.slice(2),
      sandbox.apiKey,
      HEADER,
      'secret-of-the-shop',
      SHOP.referenceId,
      SHOP.description,
      sandbox.databaseUrl,
      sandbox.rpcUrl,
    ];
    for (const word of private_) assert.equal(all.includes(word.toLowerCase()), false, word);
  });

  it('stop no payment while the receiver is away, and say so once', async () => {
    const away = await startReceiver();
    await away.stop();
    const other = await startSandbox({ OTEL_EXPORTER_OTLP_ENDPOINT: away.origin, OTEL_TRACES_SAMPLER_ARG: '1' });
    try {
      const payer = await other.createWallet({ USDC: 10n ** 9n });
      const { paymentId } = await other.createPayment('iso4217/USD', '1299');
      await payWith(other, payer, paymentId, 'USDC');
      const warnings = () =>
        other
          .output()
          .split('\n')
          .filter((line) => line.includes('traces cannot be sent'))
          .map((line) => JSON.parse(line));
      await until('the failure is logged', async () => warnings().length > 0, { withinMs: 20_000 });
      assert.equal(warnings().length, 1);
      assert.equal(warnings()[0].level, 'warn');
    } finally {
      await other.stop();
    }
  });

  it('cost nothing without a receiver: every function is the plain one, and no hook is added', () => {
    const run = async () => {};
    assert.equal(
      traced(undefined, run, () => assert.fail('nothing is described')),
      run,
    );
    assert.equal(tracedAttempt(undefined), attemptDelivery);
    const transport: Transport = { post: () => assert.fail('nothing is sent'), close: () => {} };
    assert.equal(tracedTransport(undefined, transport, { network: 'eip155:1', endpoint: 1 }), transport);
    const actions = { createPayment: () => assert.fail('no order'), movePayment: () => assert.fail('no move') };
    assert.equal(tracedPayments(undefined, actions), actions);
    const app = { addHook: () => assert.fail('a hook is added') };
    traceRequests(app as unknown as App, undefined);
  });

  it('have no span whose parent is missing from its trace', () => {
    const all = spans();
    const known = new Set(all.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
    const roots = new Set(all.filter(({ parentSpanId }) => !parentSpanId).map(({ traceId }) => traceId));
    // A parent is sent when it ends, after its children: only whole traces are judged.
    const orphans = all.filter(
      ({ traceId, parentSpanId }) => roots.has(traceId) && parentSpanId && !known.has(`${traceId} ${parentSpanId}`),
    );
    assert.deepEqual(
      orphans.map(({ name }) => name),
      [],
    );
    const statements = named('statement');
    assert.ok(statements.length > 10);
    assert.ok(statements.every(({ parentSpanId }) => Boolean(parentSpanId)));
  });

  function isParent(parent: Span, child: Span): boolean {
    return child.traceId === parent.traceId && child.parentSpanId === parent.spanId;
  }

  function isBelow(span: Span, above: Span): boolean {
    const all = new Map(spans().map((each) => [each.spanId, each]));
    for (let at: Span | undefined = span; at !== undefined; at = all.get(at.parentSpanId ?? '')) {
      if (isParent(above, at)) return true;
    }
    return false;
  }
});
