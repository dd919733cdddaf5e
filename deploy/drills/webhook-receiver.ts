import { verify } from '../../sdk/src/webhooks.ts';
import { startReceiver } from '../../test/receiver.ts';

interface Partner {
  readonly baseUrl: string;
  readonly apiKey: () => string;
}

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

export type SecretReceiver = Awaited<ReturnType<typeof openSecretReceiver>>;

/** A receiver of the successes of payments, which refuses each delivery that its one secret does not verify. */
export async function openSecretReceiver({ baseUrl, apiKey }: Partner) {
  const receiver = await startReceiver();
  let secret = '';
  const counts = { verified: 0, refused: 0 };
  receiver.answerWith(async ({ body, headers }, response) => {
    const isVerified = await verify(body, headers, secret).then(
      () => true,
      () => false,
    );
    counts[isVerified ? 'verified' : 'refused'] += 1;
    response.writeHead(isVerified ? 200 : 401).end();
  });
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${baseUrl}/v1/webhook-endpoints${path}`, {
      method: 'POST',
      headers: { 'Api-Key': apiKey(), 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const made = (await answer.json()) as { readonly webhookEndpoint: Endpoint };
    if (!answer.ok) throw new Error(`No webhook secret: ${JSON.stringify(made)}`);
    return made;
  };
  const { webhookEndpoint: made } = await post('', { url: `${receiver.origin}/hook`, events: ['payment.succeeded'] });
  secret = made.secret;
  return {
    receiver,
    counts,
    /** The gateway makes a new secret, and signs with both for an hour. Returns it; the receiver does not know it yet. */
    async rotate(): Promise<string> {
      const { webhookEndpoint } = await post(`/${made.id}/rotate-secret`, { overlapSeconds: 3_600 });
      return webhookEndpoint.secret;
    },
    /** From now on deliveries are verified by this secret alone. */
    use(next: string) {
      secret = next;
    },
  };
}
