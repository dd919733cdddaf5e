import Fastify from 'fastify';

/**
 * The peer over HTTP: Fastify with only the two routes, which return constants in the shape of the gateway's answers.
 * It parses the body and validates nothing.
 */
const app = Fastify({ logger: false });

app.post('/v1/payments', (_request, reply) => {
  reply.code(201).send({
    paymentId: 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
    status: 'requires_action',
    expiresAt: 1771459200,
    isFinal: false,
    gatewayUrl: 'http://localhost:8080/?pid=pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
    pollInMs: 1000,
  });
});

app.get('/v1/payments/:id/status', (_request, reply) => {
  reply.send({ status: 'requires_action', isFinal: false, pollInMs: 1000, info: null });
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
