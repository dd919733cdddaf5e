import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from './read-config.ts';

function read(environment: Record<string, string>) {
  const result = readConfig(environment);
  return 'problems' in result ? result.problems.join('; ') : result.config;
}

describe('settings of traces', () => {
  it('read headers as pairs, percent-encoded, and never repeat them', () => {
    const config = read({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-team = till' });
    assert.ok(typeof config === 'object');
    assert.deepEqual(config.otlpHeaders, { authorization: 'Bearer a=b', 'x-team': 'till' });
    for (const wrong of [
      'secret-word',
      '=secret-word',
      'a=%zzsecret-word',
      'a=secret-word%0d%0ab: c',
      'a b=secret-word',
    ]) {
      const problem = read({ OTEL_EXPORTER_OTLP_HEADERS: wrong });
      assert.match(String(problem), /^OTEL_EXPORTER_OTLP_HEADERS must list headers/);
      assert.equal(String(problem).includes('secret-word'), false);
    }
  });

  it('take a share from 0 to 1', () => {
    for (const [raw, share] of [
      ['0', 0],
      ['0.01', 0.01],
      ['1', 1],
      ['1.0', 1],
    ] as const) {
      const config = read({ OTEL_TRACES_SAMPLER_ARG: raw });
      assert.equal(typeof config === 'object' ? config.tracesShare : config, share);
    }
    for (const raw of ['-0.1', '1.5', '2', '1e-3', 'NaN', '.5']) {
      assert.match(String(read({ OTEL_TRACES_SAMPLER_ARG: raw })), /must be a number from 0 to 1/);
    }
  });
});
