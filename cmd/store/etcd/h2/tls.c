/* SPDX-License-Identifier: ISC */
/*
 * tls.c - TLS over a socket: see inside.h.
 *
 * Under TLS 1.3 the server reads the client's certificate only after the client may write.  So the
 * refusal of a certificate may come with what is read later, and is looked for there too.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/epoll.h>

#include "inside.h"

#define NO_LIBRARY   "OpenSSL's libssl can't be loaded: install it"
#define NO_BEGINNING "TLS could not be begun"
#define OTHER_HOST \
	"its certificate is for another host name: use the name that is in it, or have it renewed"

#define TEXT_OF(x)   #x
#define NUMBER_OF(x) TEXT_OF(x)
#ifdef OPENSSL_VERSION_MAJOR
#define LIBRARY "libssl.so." NUMBER_OF(OPENSSL_VERSION_MAJOR)
#else
#define LIBRARY "libssl.so.1.1"
#endif

/* What we use of it, by the types of its own header. */
/* clang-format off */
#define FUNCTIONS(use)                                \
	use(ERR_clear_error)                         \
	use(ERR_peek_error)                          \
	use(SSL_CTX_check_private_key)               \
	use(SSL_CTX_ctrl)                            \
	use(SSL_CTX_free)                            \
	use(SSL_CTX_load_verify_locations)           \
	use(SSL_CTX_new)                             \
	use(SSL_CTX_set_alpn_protos)                 \
	use(SSL_CTX_set_default_passwd_cb)           \
	use(SSL_CTX_set_default_verify_paths)        \
	use(SSL_CTX_set_verify)                      \
	use(SSL_CTX_use_PrivateKey_file)             \
	use(SSL_CTX_use_certificate_chain_file)      \
	use(SSL_connect)                             \
	use(SSL_ctrl)                                \
	use(SSL_free)                                \
	use(SSL_get0_param)                          \
	use(SSL_get_error)                           \
	use(SSL_get_verify_result)                   \
	use(SSL_new)                                 \
	use(SSL_read)                                \
	use(SSL_set_fd)                              \
	use(SSL_write)                               \
	use(TLS_client_method)                       \
	use(X509_VERIFY_PARAM_set1_host)             \
	use(X509_VERIFY_PARAM_set1_ip_asc)
/* clang-format on */

static struct {
#define POINTER(name) __typeof__(&(name)) name##_;
	FUNCTIONS(POINTER)
} lib;

static bool
load(void)
{
	static void *library;

	if (library != NULL)
		return true;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return false;
#define FIND(name)                                      \
	*(void **)&lib.name##_ = dlsym(library, #name); \
	if (lib.name##_ == NULL)                        \
		goto lacks;
	FUNCTIONS(FIND)
	return true;
lacks:
	dlclose(library);
	library = NULL;
	return false;
}

/* ---- what is wrong ------------------------------------------------------------------------- */

/* The certificates: the server's, by how it was verified, and ours, by what the server says. */
static const struct {
	bool verified; /* the number is a result of the verification, not a reason of an error */
	long number;
	const char *words;
} causes[] = {
	{ true, X509_V_ERR_CERT_HAS_EXPIRED, "its certificate has expired: have it renewed" },
	{ true, X509_V_ERR_CERT_NOT_YET_VALID,
	  "its certificate is not valid yet: look at the clocks" },
	{ true, X509_V_ERR_HOSTNAME_MISMATCH, OTHER_HOST },
	{ true, X509_V_ERR_IP_ADDRESS_MISMATCH, OTHER_HOST },
	{ false, SSL_R_WRONG_VERSION_NUMBER, NO_TLS },
	{ false, SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
	  "it wants a client's certificate: give cert= and key=" },
	{ false, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
	  "it says that our certificate has expired: renew that of cert=" },
	{ false, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
	  "it wants a client's certificate that it trusts: give cert= and key=" },
	{ false, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
	  "it does not know the signer of our certificate: look at cert=" },
};

void
tls_explain(SSL *session, struct trouble *why)
{
	long verified = lib.SSL_get_verify_result_(session);
	long reason = ERR_GET_REASON(lib.ERR_peek_error_());
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].number == (causes[i].verified ? verified : reason)) {
			*why = (struct trouble){ WRONG, causes[i].words };
			return;
		}
	}
	if (verified != X509_V_OK)
		*why = (struct trouble){ WRONG, "its certificate is not signed by a trusted "
						"authority: give the authority's with cacert=" };
}

/* Before each function of the library that may fail: see failed() and tls_explain(). */
static void
forget_errors(void)
{
	lib.ERR_clear_error_();
	errno = 0;
}

/* What a function that returned n wants; errno as that of read(2). */
static int
failed(const SSL *session, int n)
{
	int error = lib.SSL_get_error_(session, n);

	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		errno = EAGAIN;
	else if (error != SSL_ERROR_SYSCALL || errno == EAGAIN || errno == 0)
		errno = EPROTO;
	return error;
}

/* ---- to begin ------------------------------------------------------------------------------ */

/* NULL, or what is wrong with the files. */
static const char *
use_files(SSL_CTX *context, const struct h2_tls *files)
{
	if (files->cacert == NULL)
		lib.SSL_CTX_set_default_verify_paths_(context);
	else if (lib.SSL_CTX_load_verify_locations_(context, files->cacert, NULL) != 1)
		return "the file of cacert= can't be used: it must contain certificates in PEM";
	if (files->cert == NULL)
		return NULL;
	if (lib.SSL_CTX_use_certificate_chain_file_(context, files->cert) != 1 ||
	    lib.SSL_CTX_use_PrivateKey_file_(context, files->key, SSL_FILETYPE_PEM) != 1)
		return ERR_GET_REASON(lib.ERR_peek_error_()) == X509_R_KEY_VALUES_MISMATCH
			   ? "cert= and key= do not belong together"
			   : "the files of cert= and key= can't be used: they must be in PEM, "
			     "without a passphrase, and belong together";
	if (lib.SSL_CTX_check_private_key_(context) != 1)
		return "cert= and key= do not belong together";
	return NULL;
}

/* Whose certificate it must be. */
static bool
expect(SSL *session, const char *host)
{
	X509_VERIFY_PARAM *param = lib.SSL_get0_param_(session);
	struct in6_addr numeric;

	/* Older libraries take a name that begins as an address for one. */
	if (inet_pton(AF_INET, host, &numeric) == 1 || inet_pton(AF_INET6, host, &numeric) == 1)
		return lib.X509_VERIFY_PARAM_set1_ip_asc_(param, host) == 1;
	return lib.X509_VERIFY_PARAM_set1_host_(param, host, 0) == 1 &&
	       lib.SSL_ctrl_(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
			     (void *)(uintptr_t)host) == 1;
}

/* There is nobody to ask. */
static int
no_passphrase(char *to, int room, int writing, void *context)
{
	(void)to;
	(void)room;
	(void)writing;
	(void)context;
	return 0;
}

static SSL_CTX *
make_context(void)
{
	static const unsigned char h2[] = { 2, 'h', '2' };
	SSL_CTX *context = lib.SSL_CTX_new_(lib.TLS_client_method_());

	if (context == NULL)
		return NULL;
	lib.SSL_CTX_set_verify_(context, SSL_VERIFY_PEER, NULL);
	lib.SSL_CTX_set_default_passwd_cb_(context, no_passphrase);
	lib.SSL_CTX_set_alpn_protos_(context, h2, sizeof(h2));
	lib.SSL_CTX_ctrl_(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
	lib.SSL_CTX_ctrl_(context, SSL_CTRL_MODE,
			  SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
			  NULL);
	return context;
}

/*
 * NULL, and why: a file that can't be used, no library, no memory.  The session keeps the context for
 * as long as it needs it.
 */
static SSL *
begin(int fd, const char *host, const struct h2_tls *files, struct trouble *why)
{
	SSL_CTX *context;
	SSL *session = NULL;
	const char *wrong;

	*why = (struct trouble){ WRONG, NO_LIBRARY };
	if (!load())
		return NULL;
	*why = (struct trouble){ AWAY, NO_MEMORY };
	context = make_context();
	if (context == NULL)
		return NULL;
	forget_errors();
	wrong = use_files(context, files);
	if (wrong != NULL)
		*why = (struct trouble){ WRONG, wrong };
	else
		session = lib.SSL_new_(context);
	lib.SSL_CTX_free_(context);
	if (session != NULL && expect(session, host) && lib.SSL_set_fd_(session, fd) == 1)
		return session;
	tls_end(session);
	return NULL;
}

int
tls_shake(struct h2_conn *c, struct trouble *why)
{
	int n;

	if (c->tls == NULL)
		c->tls = begin(c->fd, c->where.host, c->h2->tls, why);
	if (c->tls == NULL)
		return -1;
	forget_errors();
	n = lib.SSL_connect_(c->tls);
	if (n == 1)
		return 0;
	n = failed(c->tls, n);
	if (n == SSL_ERROR_WANT_READ)
		return EPOLLIN;
	if (n == SSL_ERROR_WANT_WRITE)
		return EPOLLOUT;
	*why = (struct trouble){ BROKEN, NO_BEGINNING };
	tls_explain(c->tls, why);
	return -1;
}

ssize_t
tls_read(SSL *session, void *bytes, size_t room)
{
	int n;

	forget_errors();
	n = lib.SSL_read_(session, bytes, (int)room);
	if (n > 0)
		return n;
	return failed(session, n) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

ssize_t
tls_write(SSL *session, const void *bytes, size_t size)
{
	int n;

	forget_errors();
	n = lib.SSL_write_(session, bytes, (int)size);
	if (n > 0)
		return n;
	failed(session, n);
	return -1;
}

void
tls_end(SSL *session)
{
	if (session != NULL)
		lib.SSL_free_(session);
}
