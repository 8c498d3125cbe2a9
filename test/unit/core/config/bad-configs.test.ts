/** A table of configs that are wrong, and the exact text that each prints. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { load } from '../../../../core/config/load.ts'
import { ConfigError } from '../../../../core/config/problem.ts'
import { pluginFolder } from './plugin-fixtures.ts'

interface Row {
  readonly name: string
  readonly config: string
  readonly env?: Record<string, string>
  readonly prints: string
}

const phone = (options: string): string =>
  `{ "plugins": { "phone": { "use": "./plugins/phone/index.ts", "options": ${options} } } }`

const using = (ids: Record<string, string>, rest = ''): string =>
  `{ "plugins": {\n${Object.entries(ids)
    .map(([id, folder]) => `  "${id}": { "use": "./plugins/${folder}/index.ts"${rest} }`)
    .join(',\n')}\n} }`

const ROWS: readonly Row[] = [
  {
    name: 'a comma too many',
    config: `{
  "plugins": {},
}`,
    prints: `edge.config.json:2:16
    a comma before "}" is not JSON
    remove the comma`,
  },
  {
    name: 'a comment',
    config: `{
  // nothing to see
  "plugins": {}
}`,
    prints: `edge.config.json:2:3
    comments are not JSON
    remove the comment`,
  },
  {
    name: 'an unknown option, and what the plugin itself has to say of the others',
    config: phone(`{ "listen": "nowhere", "lins": 3 }`),
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    nobody calls nowhere
    name a place
edge.config.json:1:96 /plugins/phone/options/lins
    unknown option "lins"
    did you mean "lines"?`,
  },
  {
    name: 'a drain longer than a timer can be',
    config: `{ "drainSeconds": 9999999, "plugins": {} }`,
    prints: `edge.config.json:1:3 /drainSeconds
    must be 86400 or less
    how long calls may go on after the process was told to stop`,
  },
  {
    name: 'a comma forgotten',
    config: `{
  "drainSeconds": 3
  "plugins": {}
}`,
    prints: `edge.config.json:3:3
    expected "," or "}", found "\\""`,
  },
  {
    name: 'single quotes',
    config: `{ 'plugins': {} }`,
    prints: `edge.config.json:1:3
    expected a key or "}", found "'"
    strings stand in double quotes`,
  },
  {
    name: 'a string over the end of its line',
    config: `{ "plugins": { "a
": {} } }`,
    prints: `edge.config.json:1:18
    a string must end on the line it starts on
    close it with "`,
  },
  {
    name: 'a file that ends too soon',
    config: `{ "plugins": {`,
    prints: `edge.config.json:1:15
    the file ends where a key or "}" should be`,
  },
  {
    name: 'an empty file',
    config: ``,
    prints: `edge.config.json:1:1
    the file ends where a value should be`,
  },
  {
    name: 'more after the end',
    config: `{ "plugins": {} } }`,
    prints: `edge.config.json:1:19
    expected the end of the file, found "}"`,
  },
  {
    name: 'a number with a leading zero',
    config: `{ "drainSeconds": 030, "plugins": {} }`,
    prints: `edge.config.json:1:20
    expected "," or "}", found "3"`,
  },
  {
    name: 'a key that comes twice',
    config: `{
  "drainSeconds": 1,
  "plugins": {},
  "drainSeconds": 2
}`,
    prints: `edge.config.json:4:3 /drainSeconds
    "drainSeconds" stands here twice
    it is first at 2:3`,
  },
  {
    name: 'the same plugin id twice',
    config: `{ "plugins": {
  "a": { "use": "./plugins/giver/index.ts" },
  "a": { "use": "./plugins/giver/index.ts" }
} }`,
    prints: `edge.config.json:3:3 /plugins/a
    "a" stands here twice
    it is first at 2:3`,
  },
  {
    name: 'not an object',
    config: `[]`,
    prints: `edge.config.json:1:1
    must be an object`,
  },
  {
    name: 'no plugins section',
    config: `{}`,
    prints: `edge.config.json:1:1
    "plugins" is missing
    what this process runs: an id of your choice for each plugin`,
  },
  {
    name: 'an unknown section',
    config: `{ "plugin": {}, "plugins": {} }`,
    prints: `edge.config.json:1:3 /plugin
    unknown option "plugin"
    did you mean "plugins"?`,
  },
  {
    name: 'an unknown option, far from any',
    config: `{ "http": { "zzzzzz": 1 }, "plugins": {} }`,
    prints: `edge.config.json:1:13 /http/zzzzzz
    unknown option "zzzzzz"
    known options: listen, tls, keys, origins, trustProxy, bodyLimit, maxConnections`,
  },
  {
    name: 'a mistyped option of a plugin, and the one it hides',
    config: phone(`{ "lisen": "here" }`),
    prints: `edge.config.json:1:62 /plugins/phone/options
    "listen" is missing
    where calls come in
edge.config.json:1:75 /plugins/phone/options/lisen
    unknown option "lisen"
    did you mean "listen"?`,
  },
  {
    name: 'a number where text belongs',
    config: phone(`{ "listen": 5 }`),
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    must be a string
    where calls come in`,
  },
  {
    name: 'a number out of range',
    config: phone(`{ "listen": "here", "lines": 0 }`),
    prints: `edge.config.json:1:93 /plugins/phone/options/lines
    must be 1 or more`,
  },
  {
    name: 'a mistyped choice',
    config: phone(`{ "listen": "here", "mode": "strickt" }`),
    prints: `edge.config.json:1:93 /plugins/phone/options/mode
    must be one of "strict", "open"
    did you mean "strict"?`,
  },
  {
    name: 'a wrong variant of a union',
    config: phone(`{ "listen": "here", "ring": { "type": "tone", "hertz": "high" } }`),
    prints: `edge.config.json:1:119 /plugins/phone/options/ring/hertz
    must be a number`,
  },
  {
    name: 'what only the plugin can say',
    config: phone(`{ "listen": "nowhere" }`),
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    nobody calls nowhere
    name a place`,
  },
  {
    name: "a secret in the plugin's own words",
    config: phone(`{ "listen": "here", "secret": "too-well-known" }`),
    prints: `edge.config.json:1:93 /plugins/phone/options/secret
    everybody knows [redacted]`,
  },
  {
    name: 'a secret that is too short is not shown',
    config: phone(`{ "listen": "here", "secret": "hunter2" }`),
    prints: `edge.config.json:1:93 /plugins/phone/options/secret
    must be at least 8 characters long`,
  },
  {
    name: 'missing variables, and the other faults besides',
    config: phone(`{
  "listen": "\${WHERE}",
  "lines": "\${LINES}",
  "mode": 3,
  "secret": "\${file:none.txt}"
}`),
    prints: `edge.config.json:2:3 /plugins/phone/options/listen
    environment variable WHERE is not set
    set it, or write \${WHERE:-default}
edge.config.json:3:3 /plugins/phone/options/lines
    environment variable LINES is not set
    set it, or write \${LINES:-default}
edge.config.json:4:3 /plugins/phone/options/mode
    must be one of "strict", "open"
edge.config.json:5:3 /plugins/phone/options/secret
    file none.txt cannot be read (ENOENT)
    paths are relative to the config file`,
  },
  {
    name: 'a missing variable inside one of several shapes',
    config: phone(`{ "listen": "here", "ring": { "type": "bell", "count": "\${COUNT}" } }`),
    prints: `edge.config.json:1:119 /plugins/phone/options/ring/count
    environment variable COUNT is not set
    set it, or write \${COUNT:-default}`,
  },
  {
    name: 'a number that is out of range, where text is right too',
    config: phone(`{ "listen": "here", "volume": 12 }`),
    prints: `edge.config.json:1:93 /plugins/phone/options/volume
    must be 11 or less
    how loud it rings`,
  },
  {
    name: 'a variable that is empty',
    config: phone(`{ "listen": "\${WHERE}" }`),
    env: { WHERE: '' },
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    environment variable WHERE is empty
    set it, or write \${WHERE:-default}`,
  },
  {
    name: 'a variable that is no number',
    config: phone(`{ "listen": "here", "lines": "\${LINES}" }`),
    env: { LINES: 'many' },
    prints: `edge.config.json:1:93 /plugins/phone/options/lines
    must be an integer
    the value comes from \${LINES}`,
  },
  {
    name: 'a variable that is out of range',
    config: phone(`{ "listen": "here", "lines": "\${LINES}" }`),
    env: { LINES: '0' },
    prints: `edge.config.json:1:93 /plugins/phone/options/lines
    must be 1 or more
    the value comes from \${LINES}`,
  },
  {
    name: 'a variable that is no boolean',
    config: phone(`{ "listen": "here", "loud": "\${LOUD}" }`),
    env: { LOUD: 'yes' },
    prints: `edge.config.json:1:93 /plugins/phone/options/loud
    must be a boolean
    the value comes from \${LOUD}`,
  },
  {
    name: 'a placeholder that is none',
    config: phone(`{ "listen": "\${env:HOME}" }`),
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    \${env:HOME} is no placeholder
    write \${NAME}, \${NAME:-default} or \${file:path}; a plain "$" is written "$$"`,
  },
  {
    name: 'a placeholder that never ends',
    config: phone(`{ "listen": "\${HOME" }`),
    env: { HOME: '/' },
    prints: `edge.config.json:1:75 /plugins/phone/options/listen
    \${HOME is no placeholder
    write \${NAME}, \${NAME:-default} or \${file:path}; a plain "$" is written "$$"`,
  },
  {
    name: 'an unknown plugin, nearly right',
    config: using({ phone: 'fone' }),
    prints: `edge.config.json:2:14 /plugins/phone/use
    cannot load "./plugins/fone/index.ts": there is no such file
    did you mean "./plugins/phone/index.ts"?`,
  },
  {
    name: 'an unknown plugin, far from any',
    config: `{ "plugins": { "x": { "use": "./elsewhere/thing.ts" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "./elsewhere/thing.ts": there is no such file
    paths are relative to the config file`,
  },
  {
    name: 'a path without its extension',
    config: `{ "plugins": { "x": { "use": "./plugins/phone/index" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "./plugins/phone/index": there is no such file
    did you mean "./plugins/phone/index.ts"?`,
  },
  {
    name: 'the path of one of ours, in a config that lies elsewhere',
    config: `{ "plugins": { "x": { "use": "./plugins/memory-recovery/index.ts" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "./plugins/memory-recovery/index.ts": there is no such file
    the one that comes with Earshot is "earshot/plugins/memory-recovery"`,
  },
  {
    name: 'a folder that holds no plugin',
    config: `{ "plugins": { "x": { "use": "./plugins" }, "y": { "use": "." } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "./plugins": there is no index.ts or index.js in this folder
edge.config.json:1:52 /plugins/y/use
    cannot load ".": there is no index.ts or index.js in this folder`,
  },
  {
    name: 'a package that is not installed',
    config: `{ "plugins": { "x": { "use": "@acme/nothing" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "@acme/nothing": no such package is installed
    a path starts with "./"; a package must be installed beside the config`,
  },
  {
    name: 'a path without its dot',
    config: `{ "plugins": { "x": { "use": "plugins/phone/index.ts" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "plugins/phone/index.ts": no such package is installed
    a path starts with "./": "./plugins/phone/index.ts"`,
  },
  {
    name: 'a built-in plugin mistyped',
    config: `{ "plugins": { "x": { "use": "earshot/plugins/routing-codec/seeled" } } }`,
    prints: `edge.config.json:1:23 /plugins/x/use
    cannot load "earshot/plugins/routing-codec/seeled": Earshot has no such plugin
    did you mean "earshot/plugins/routing-codec/sealed"?`,
  },
  {
    name: 'a plugin that throws when it is imported',
    config: using({ x: 'throws' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    cannot load "./plugins/throws/index.ts": it fails when it is imported
    Error: boom at import (plugins/throws/index.ts:1)`,
  },
  {
    name: 'a plugin with a syntax error',
    config: using({ x: 'broken' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    cannot load "./plugins/broken/index.ts": it fails when it is imported
    SyntaxError: Unexpected token \`<eof>\`. Expected identifier, string literal, numeric literal or [ for the computed key (plugins/broken/index.ts:1)`,
  },
  {
    name: 'a plugin that imports a file with a syntax error',
    config: using({ x: 'indirect' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    cannot load "./plugins/indirect/index.ts": it fails when it is imported
    SyntaxError: Expected a semicolon (plugins/indirect/part.ts:2)`,
  },
  {
    name: 'a plugin that asks the door for what it does not have',
    config: using({ x: 'asks' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    cannot load "./plugins/asks/index.ts": it fails when it is imported
    SyntaxError: The requested module 'earshot' does not provide an export named 'nothing' (plugins/asks/index.ts:3)`,
  },
  {
    name: 'a file that is no plugin',
    config: using({ x: 'empty' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    "./plugins/empty/index.ts" is no plugin: it has no default export
    a plugin's default export is definePlugin({ name, api: 1, options, setup })`,
  },
  {
    name: 'a plugin for another version',
    config: using({ x: 'old' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    "./plugins/old/index.ts" is no plugin: it was written for api 0, and this host speaks api 1
    a plugin's default export is definePlugin({ name, api: 1, options, setup })`,
  },
  {
    name: 'a plugin without an options schema',
    config: using({ x: 'odd' }),
    prints: `edge.config.json:2:10 /plugins/x/use
    "./plugins/odd/index.ts" is no plugin: "options" must be a Type.Object
    a plugin's default export is definePlugin({ name, api: 1, options, setup })`,
  },
  {
    name: 'a service that nobody provides',
    config: using({ x: 'taker' }),
    prints: `edge.config.json:2:3 /plugins/x
    needs thing, and no plugin in this file provides it`,
  },
  {
    name: 'a service that a known plugin would provide',
    config: using({ x: 'coded' }),
    prints: `edge.config.json:2:3 /plugins/x
    needs routing-codec, and no plugin in this file provides it
    these would: "earshot/plugins/routing-codec/plain", "earshot/plugins/routing-codec/sealed"`,
  },
  {
    name: 'two that provide one service',
    config: using({ one: 'giver', two: 'giver', x: 'taker' }),
    prints: `edge.config.json:4:3 /plugins/x
    2 plugins provide thing: one, two
    choose one: "bind": { "need": "one" }`,
  },
  {
    name: 'two that could fulfil a wish',
    config: using({ one: 'giver', two: 'giver', x: 'wisher' }),
    prints: `edge.config.json:4:3 /plugins/x
    2 plugins provide thing: one, two
    choose one: "bind": { "wish": "one" }`,
  },
  {
    name: 'a bind to an id that does not exist',
    config: `{ "plugins": {
  "giver": { "use": "./plugins/giver/index.ts" },
  "x": { "use": "./plugins/taker/index.ts", "bind": { "need": "gvier" } }
} }`,
    prints: `edge.config.json:3:55 /plugins/x/bind/need
    there is no plugin "gvier"
    did you mean "giver"?`,
  },
  {
    name: 'a bind to a plugin that does not provide it',
    config: `{ "plugins": {
  "giver": { "use": "./plugins/giver/index.ts" },
  "wisher": { "use": "./plugins/wisher/index.ts" },
  "x": { "use": "./plugins/taker/index.ts", "bind": { "need": "wisher" } }
} }`,
    prints: `edge.config.json:4:55 /plugins/x/bind/need
    "wisher" does not provide thing
    these provide thing: giver`,
  },
  {
    name: 'a bind for a service that is not used',
    config: `{ "plugins": {
  "giver": { "use": "./plugins/giver/index.ts" },
  "x": { "use": "./plugins/taker/index.ts", "bind": { "ned": "giver" } }
} }`,
    prints: `edge.config.json:3:55 /plugins/x/bind/ned
    taker uses no service called "ned"
    did you mean "need"?`,
  },
  {
    name: 'circular needs',
    config: using({ egg: 'egg', hen: 'hen' }),
    prints: `edge.config.json:2:3 /plugins/egg
    plugins need each other in a circle: egg → hen → egg
    take one of them out, or bind a service of one of them to another plugin`,
  },
  {
    name: 'a public bind without a key',
    config: `{ "http": { "listen": "0.0.0.0:8080" }, "plugins": {} }`,
    prints: `edge.config.json:1:13 /http/listen
    0.0.0.0:8080 can be reached from other machines, and http.keys has no API key
    add one: "keys": { "me": "\${EARSHOT_KEY}" } with a secret of 16 characters or more; or listen on 127.0.0.1`,
  },
  {
    name: 'a public bind, and a key that is too short',
    config: `{ "http": { "listen": "0.0.0.0:8080", "keys": { "me": "short" } }, "plugins": {} }`,
    prints: `edge.config.json:1:49 /http/keys/me
    must be at least 16 characters long`,
  },
  {
    name: 'two names with one key',
    config: `{ "http": { "keys": { "a": "0123456789abcdef", "b": "0123456789abcdef" } }, "plugins": {} }`,
    prints: `edge.config.json:1:48 /http/keys/b
    is the same key as "a"
    give each name a secret of its own`,
  },
  {
    name: 'a key that looks like a client secret',
    config: `{ "http": { "keys": { "a": "ek_0123456789abcdef" } }, "plugins": {} }`,
    prints: `edge.config.json:1:23 /http/keys/a
    begins with "ek_", as client secrets do
    choose another secret`,
  },
  {
    name: 'a key with the name of who has none',
    config: `{ "http": { "keys": { "anonymous": "0123456789abcdef" } }, "plugins": {} }`,
    prints: `edge.config.json:1:23 /http/keys/anonymous
    "anonymous" is who calls where no key is asked for
    give this key another name`,
  },
  {
    name: 'proxies that are none, and everybody as one',
    config: `{ "http": { "trustProxy": ["10.0.0.0/8", "ingress", "10.0.0.5/33", "0.0.0.0/0", "::/0"] }, "plugins": {} }`,
    prints: `edge.config.json:1:42 /http/trustProxy/1
    is no CIDR and no ip
    such as "10.0.0.0/8", "fd00::/8" or "10.0.0.5"
edge.config.json:1:53 /http/trustProxy/2
    is no CIDR and no ip
    such as "10.0.0.0/8", "fd00::/8" or "10.0.0.5"
edge.config.json:1:68 /http/trustProxy/3
    is everybody there is
    list where your proxies are: whoever is believed can call from any address
edge.config.json:1:81 /http/trustProxy/4
    is everybody there is
    list where your proxies are: whoever is believed can call from any address`,
  },
  {
    name: 'trust in proxies by a word',
    config: `{ "http": { "trustProxy": true }, "plugins": {} }`,
    prints: `edge.config.json:1:13 /http/trustProxy
    must be an array
    CIDRs or addresses of the proxies in front (an ingress, a load balancer) whose X-Forwarded-For is believed; default: nobody is`,
  },
  {
    name: 'listeners and addresses that are none',
    config: `{
  "node": { "cluster": 65536, "advertise": ["edge.example:3478", "0.0.0.0:3478", "1.2.3.4:0"] },
  "http": { "listen": "8080", "origins": ["localhost", "https://app.example/"] },
  "admin": { "listen": "localhost" },
  "telemetry": { "otlp": "localhost:4318" },
  "plugins": {}
}`,
    prints: `edge.config.json:2:13 /node/cluster
    must be 65535 or less
    the number of the cluster this process runs in
edge.config.json:2:45 /node/advertise/0
    must be ip:port
    an address that clients can reach, such as "203.0.113.7:3478"
edge.config.json:2:66 /node/advertise/1
    must be ip:port
    an address that clients can reach, such as "203.0.113.7:3478"
edge.config.json:2:82 /node/advertise/2
    must be ip:port
    an address that clients can reach, such as "203.0.113.7:3478"
edge.config.json:3:13 /http/listen
    must be ip:port
    such as "127.0.0.1:8080", "0.0.0.0:8080" or "[::]:8080"
edge.config.json:3:43 /http/origins/0
    is no web origin
    such as "https://app.example", "http://localhost:*" or "*"; no path, no slash at the end
edge.config.json:3:56 /http/origins/1
    is no web origin
    such as "https://app.example", "http://localhost:*" or "*"; no path, no slash at the end
edge.config.json:4:14 /admin/listen
    must be ip:port
    such as "127.0.0.1:8080", "0.0.0.0:8080" or "[::]:8080"
edge.config.json:5:18 /telemetry/otlp
    must be an http:// or https:// URL
    such as "http://localhost:4318"`,
  },
  {
    name: 'a TLS setting that is none, beside other sections',
    config: `{
  "http": { "tls": "self-singed" },
  "log": { "level": "inof" },
  "admin": true,
  "plugins": { "1st": { "use": "./plugins/giver/index.ts" } }
}`,
    prints: `edge.config.json:2:13 /http/tls
    must be false or "self-signed" or an object
    did you mean "self-signed"?
edge.config.json:3:12 /log/level
    must be one of "trace", "debug", "info", "warn", "error", "fatal", "silent"
    did you mean "info"?
edge.config.json:4:3 /admin
    must be false or an object
    the listener for operators, or false for none
edge.config.json:5:16 /plugins/1st
    is no plugin id
    letters, digits, "-" and "_", a letter first`,
  },
  {
    name: 'TLS with half its files',
    config: `{ "http": { "tls": { "cert": "cert.pem" } }, "plugins": {} }`,
    prints: `edge.config.json:1:13 /http/tls
    "key" is missing
    a PEM file with the private key`,
  },
  {
    name: 'prototype names are plain unknown keys',
    config: `{ "http": { "__proto__": {}, "constructor": 1 }, "plugins": {} }`,
    prints: `edge.config.json:1:13 /http/__proto__
    unknown option "__proto__"
    known options: listen, tls, keys, origins, trustProxy, bodyLimit, maxConnections
edge.config.json:1:30 /http/constructor
    unknown option "constructor"
    known options: listen, tls, keys, origins, trustProxy, bodyLimit, maxConnections`,
  },
]

const { folder, remove } = pluginFolder()
after(remove)

for (const { name, config, env = {}, prints } of ROWS) {
  test(name, async () => {
    writeFileSync(join(folder, 'edge.config.json'), config)
    const report = await load(join(folder, 'edge.config.json'), env).then(
      () => 'nothing is wrong',
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.equal(error.code, 'config_invalid')
        return error.message.replaceAll(`${folder}/`, '')
      },
    )
    assert.equal(report, prints)
  })
}
