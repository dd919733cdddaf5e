import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

interface Envelope {
  readonly topic: string;
  readonly message: string;
  readonly publishedAt: number;
  readonly tag: number;
  /** The client that published it. It does not get its own messages. */
  readonly from: string;
}

interface Request {
  readonly id: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface Peer {
  readonly clientId: string;
  readonly socket: WebSocket;
  readonly topics: Set<string>;
  /** Deliveries without an answer, by the id of the request. */
  readonly unanswered: Map<number, Envelope>;
}

export type Relay = Awaited<ReturnType<typeof startRelay>>;

/**
 * A relay for paired wallets. It speaks the part of the protocol that clients use: topics with a mailbox each, whose
 * messages are kept until the other side has acknowledged them. It does not check who a client is.
 */
export async function startRelay() {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const peers = new Set<Peer>();
  const mailbox: Envelope[] = [];
  let ids = 1;
  let isRefusing = false;

  const forget = (envelope: Envelope) => {
    const index = mailbox.indexOf(envelope);
    if (index !== -1) mailbox.splice(index, 1);
  };
  const deliver = (peer: Peer, envelope: Envelope) => {
    if (!peer.topics.has(envelope.topic) || envelope.from === peer.clientId) return;
    const { topic, message, publishedAt, tag } = envelope;
    ids += 1;
    peer.unanswered.set(ids, envelope);
    const params = { id: `${peer.clientId}:${topic}`, data: { topic, message, publishedAt, tag } };
    peer.socket.send(JSON.stringify({ id: ids, jsonrpc: '2.0', method: 'irn_subscription', params }));
  };
  const publish = (peer: Peer, topic: unknown, message: unknown, tag: unknown) => {
    const publishedAt = Date.now();
    const envelope = {
      topic: String(topic),
      message: String(message),
      publishedAt,
      tag: Number(tag),
      from: peer.clientId,
    };
    mailbox.push(envelope);
    for (const each of peers) deliver(each, envelope);
  };
  const subscribe = (peer: Peer, topic: unknown) => {
    peer.topics.add(String(topic));
    for (const envelope of [...mailbox]) if (envelope.topic === topic) deliver(peer, envelope);
  };

  const METHODS: Readonly<Record<string, (peer: Peer, params: Record<string, unknown>) => unknown>> = {
    irn_publish(peer, { topic, message, tag }) {
      publish(peer, topic, message, tag);
      return true;
    },
    irn_subscribe(peer, { topic }) {
      subscribe(peer, topic);
      return `${peer.clientId}:${topic}`;
    },
    irn_batchSubscribe(peer, { topics }) {
      for (const topic of topics as string[]) subscribe(peer, topic);
      return (topics as string[]).map((topic) => `${peer.clientId}:${topic}`);
    },
    irn_unsubscribe(peer, { topic }) {
      peer.topics.delete(String(topic));
      return true;
    },
    // A proposal and its answer, each with the subscriptions that belong to it.
    wc_proposeSession(peer, { pairingTopic, sessionProposal }) {
      publish(peer, pairingTopic, sessionProposal, 1100);
      subscribe(peer, pairingTopic);
      return true;
    },
    wc_approveSession(peer, { pairingTopic, sessionTopic, sessionProposalResponse, sessionSettlementRequest }) {
      subscribe(peer, sessionTopic);
      publish(peer, pairingTopic, sessionProposalResponse, 1101);
      publish(peer, sessionTopic, sessionSettlementRequest, 1102);
      return true;
    },
  };

  sockets.on('connection', (socket, request) => {
    if (isRefusing) return socket.terminate();
    const clientId = clientIn(new URL(request.url ?? '', 'http://relay'));
    const peer: Peer = { clientId, socket, topics: new Set(), unanswered: new Map() };
    peers.add(peer);
    socket.on('close', () => peers.delete(peer));
    socket.on('message', (data) => {
      const { id, method, params = {} } = JSON.parse(String(data)) as Request;
      if (method === undefined) {
        const answered = peer.unanswered.get(id);
        if (answered !== undefined) forget(answered);
        return;
      }
      const act = METHODS[method];
      const answer =
        act === undefined ? { error: { code: -32601, message: `no method ${method}` } } : { result: act(peer, params) };
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, jsonrpc: '2.0', ...answer }));
    });
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dropAll = () => {
    for (const { socket } of peers) socket.terminate();
  };
  return {
    url: `ws://127.0.0.1:${port}`,
    dropAll,
    /** No connection is taken, and none is kept. */
    setRefusing(value: boolean) {
      isRefusing = value;
      if (value) dropAll();
    },
    async close() {
      dropAll();
      sockets.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The name of a client: the issuer of its token. */
function clientIn({ searchParams }: URL): string {
  const [, claims = ''] = (searchParams.get('auth') ?? '').split('.');
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iss: string }).iss;
}
