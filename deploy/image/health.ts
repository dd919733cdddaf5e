/** The health check of the image: exit code 0 if the gateway of this container answers. A node without the role `api` has its metrics port alone. */
const { PORT = '8080', METRICS_PORT = '9464', ROLES = 'api' } = process.env;
const port = ROLES.split(/[\s,]+/).includes('api') ? PORT : METRICS_PORT;
const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4_000) }).catch(
  () => undefined,
);
process.exitCode = answer?.status === 200 ? 0 : 1;
