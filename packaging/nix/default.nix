# SPDX-License-Identifier: ISC
# What was seen: on 2026-11-23, nix-instantiate 2.8 parsed it, and evaluated it with stand-ins for the packages
# of Nix. Nobody has built it yet.
#
#	nix-build packaging/nix --arg src ./flocklimit-0.2.0.tar.xz
{ pkgs ? import <nixpkgs> { }, src ? ../.. }:

pkgs.stdenv.mkDerivation {
  pname = "flocklimit";
  version = "0.2.0";
  inherit src;

  # A clone has no configure; the archive of a release has one, which autoreconf makes anew.
  nativeBuildInputs = [ pkgs.autoreconfHook pkgs.pkg-config ];
  buildInputs = [ pkgs.jansson pkgs.libbsd pkgs.ncurses pkgs.nghttp2 pkgs.openssl pkgs.postgresql ];

  configureFlags = [ "--disable-static" "--disable-static-program" ];
  enableParallelBuilding = true;

  doInstallCheck = true;
  installCheckPhase = ''
    FLOCKLIMIT_DIR=$TMPDIR $out/bin/flocklimit -N build -n 1 true
  '';

  meta = {
    description = "Run a command when a limiter has room for it";
    license = pkgs.lib.licenses.isc;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "flocklimit";
  };
}
