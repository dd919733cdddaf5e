const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/;

/** One URL for each host of a URL such as `postgres://user:password@one:5432,two:5433/till`, in their order. */
export function hostUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = FORM.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${before}${host}${after}`) : [url];
}
