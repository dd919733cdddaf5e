import Fastify from 'fastify';

/**
 * The peer over HTTP: Fastify with one route, which returns a constant in the shape of the gateway's answer.
 */
const app = Fastify({ logger: false });

app.get('/v1/payments/:id/status', (_request, reply) => {
  reply.send({ status: 'requires_action', isFinal: false, pollInMs: 1000, info: null });
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
