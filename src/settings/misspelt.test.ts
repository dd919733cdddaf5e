import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { misspeltSettings } from './misspelt.ts';

const remarksOn = (...names: string[]) => misspeltSettings(Object.fromEntries(names.map((name) => [name, 'geheim'])));

describe('a variable that looks like a misspelt setting', () => {
  const cases: readonly [name: string, meant: string][] = [
    ['RPC_URL', 'RPC_URLS'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['FEE-ACCOUNT', 'FEE_ACCOUNT'],
    ['RELAYER_KEY', 'RELAYER_KEYS'],
    ['PORTS', 'PORT'],
    ['TILL_PORT', 'PORT'],
    ['TILL_DATABASE_URL', 'DATABASE_URL'],
    ['TILL_HOEM', 'TILL_HOME'],
  ];
  for (const [name, meant] of cases) {
    it(`${name} is recognised as ${meant}`, () => {
      assert.deepEqual(remarksOn(name), [`${name} is not a setting of Till. Did you mean ${meant}?`]);
    });
  }

  it('is named even when no setting is near it, if only Till could mean it', () => {
    assert.deepEqual(remarksOn('TILL_COLOUR_SCHEME'), ['TILL_COLOUR_SCHEME is not a setting of Till']);
  });

  it('is not any variable of other programs, nor a setting, nor an empty variable', () => {
    const others =
      'HOME HOSTNAME PATH PWD LANG TERM SHELL USER NODE NODE_ENV NODE_OPTIONS INIT_CWD EDITOR COLOR CI TZ ' +
      'HTTP_PROXY HTTPS_PROXY NO_PROXY KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT REDIS_URL ' +
      'BASE_URL API_URL APP_URL SITE_URL DATABASE_HOST DATABASE_NAME DATABASE_USER DATABASE_PASSWORD PGHOST PGPORT ' +
      'DB_HOST DB_URL POSTGRES_PASSWORD npm_config_registry npm_package_name npm_lifecycle_event SSH_AUTH_SOCK ' +
      'XDG_RUNTIME_DIR LS_COLORS LC_ALL SHLVL DEBIAN_FRONTEND LOG_FILE LOG_FORMAT METRICS_ENABLED RATE_LIMIT';
    assert.deepEqual(remarksOn(...others.split(' ')), []);
    assert.deepEqual(remarksOn('PORT', 'RPC_URLS', 'TILL_HOME'), []);
    assert.deepEqual(remarksOn('TILL_URL', 'API_KEY', 'MERCHANT_ID'), [], 'the variables of the guides for partners');
    assert.deepEqual(misspeltSettings({ RPC_URL: '', DATABSE_URL: undefined }), []);
  });
});
